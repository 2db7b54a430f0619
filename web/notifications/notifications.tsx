import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { connection } from '../core/connection.ts'
import { route } from '../core/router.ts'
import { parentOf, pathOf } from '../core/routes.ts'
import { live } from '../model/account/account.ts'
import { type NotificationContext, notificationsOf } from '../model/notifications/notifications.ts'
import { LinkRow } from '../session/row/row.tsx'
import { Bar } from '../ui/bar.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { notifications as words } from '../words/notifications.ts'
import { AddNtfy, AddWebhook } from './add-channel.tsx'
import { nameOfChannel } from './channel-words.ts'
import { Channels, MissingElsewhere, OneChannel } from './channels.tsx'
import { EscalationSettings } from './escalation.tsx'
import { unansweredSummary } from './escalation-order.ts'
import { InTheNotification, InUseMinutes, NotificationKinds } from './kinds.tsx'
import { QuietHours } from './quiet.tsx'
import { quietSummary } from './quiet-words.ts'
import { SaveState, Unread, Unsaved } from './save-state.tsx'
import { Snooze } from './snooze.tsx'
import { ThisDevice } from './this-device.tsx'

/** When this device gets notifications, and whether they arrive. `part` is one of its subpages. */
export function NotificationsScreen({ part }: { part: string | undefined }) {
  switch (part) {
    case 'quiet':
      return <Page title={words.quiet} show={context => <QuietHours {...context} />} />
    case 'unanswered':
      return <Page title={words.unanswered} show={context => <EscalationSettings {...context} />} />
    case 'ntfy':
      return <Page title={words.addNtfy} show={context => <AddNtfy {...context} />} />
    case 'webhook':
      return <Page title={words.addWebhook} show={context => <AddWebhook {...context} />} />
    case undefined:
      return <Page title={words.title} always={context => <ThisDevice context={context} />} show={context => <Whole {...context} />} />
    default:
      return (
        <Page title={words.channel} named={context => channelName(context, part)} show={context => <OneChannel id={part} {...context} />} />
      )
  }
}

function channelName({ channels }: NotificationContext, id: string): string | undefined {
  const channel = channels.find(each => each.id === id)
  return channel && nameOfChannel(channel)
}

function Whole(context: NotificationContext) {
  return (
    <>
      <MissingElsewhere {...context} />
      <NotificationKinds {...context} />
      <InTheNotification {...context} />
      <section class="grp">
        <h2>{words.quiet}</h2>
        <div class="card tight">
          <LinkRow href="/settings/quiet" icon="moon" {...quietSummary(context.settings)} />
          <Snooze {...context} />
        </div>
      </section>
      <section class="grp">
        <h2>{words.unanswered}</h2>
        <div class="card tight">
          <LinkRow href="/settings/notifications/unanswered" icon="bell-ring" title={unansweredSummary(context)} />
        </div>
      </section>
      <InUseMinutes {...context} />
      <Channels {...context} />
      <p class="note">
        <Icon name="eye" />
        {words.readable}
      </p>
    </>
  )
}

/** `always` is shown even without settings from the server; `named` is a better title once they are loaded. */
function Page(props: {
  title: string
  named?(context: NotificationContext): string | undefined
  always?(context: NotificationContext | undefined): ComponentChildren
  show(context: NotificationContext): ComponentChildren
}) {
  const link = live.value
  const book = link && notificationsOf(link)
  const isLive = connection.value.type === 'live'
  useEffect(() => {
    void book?.read()
  }, [book, props.title])
  useEffect(() => {
    if (isLive && book?.saving.peek() === 'unreached') void book.again()
  }, [isLive, book])
  const reading = book?.reading.value
  const context = link && book && reading?.type === 'loaded' ? { ...reading, link, book } : undefined
  return (
    <div class="screen">
      <Bar
        title={(context && props.named?.(context)) ?? props.title}
        sub={<SaveState book={book} />}
        back={pathOf(parentOf(route.value))}
        keepBack
      />
      <div class="scroll">
        <div class="col form">
          {book && <Unsaved book={book} />}
          {props.always?.(context)}
          {context && props.show(context)}
          {!context && <Unread type={reading?.type} again={() => void book?.read()} />}
        </div>
      </div>
    </div>
  )
}
