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
import { Channels, MissingElsewhere, nameOfChannel, OneChannel } from './channels.tsx'
import { EscalationSettings, unansweredSummary } from './escalation.tsx'
import { InTheNotification, InUseMinutes, NotificationKinds } from './kinds.tsx'
import { QuietHours, quietSummary } from './quiet.tsx'
import { SavingWord, Unread, Unsaved } from './save-state.tsx'
import { Snooze } from './snooze.tsx'
import { ThisDevice } from './this-device.tsx'

/** When this device gets notifications, and whether they arrive. `part` is one of its subpages. */
export function NotificationsScreen({ part }: { part: string | undefined }) {
  switch (part) {
    case 'quiet':
      return <Page title={words.quiet} show={told => <QuietHours {...told} />} />
    case 'unanswered':
      return <Page title={words.unanswered} show={told => <EscalationSettings {...told} />} />
    case 'ntfy':
      return <Page title={words.addNtfy} show={told => <AddNtfy {...told} />} />
    case 'webhook':
      return <Page title={words.addWebhook} show={told => <AddWebhook {...told} />} />
    case undefined:
      return <Page title={words.title} always={told => <ThisDevice told={told} />} show={told => <Whole {...told} />} />
    default:
      return <Page title={words.channel} named={told => channelName(told, part)} show={told => <OneChannel id={part} {...told} />} />
  }
}

function channelName({ channels }: NotificationContext, id: string): string | undefined {
  const channel = channels.find(each => each.id === id)
  return channel && nameOfChannel(channel)
}

function Whole(told: NotificationContext) {
  return (
    <>
      <MissingElsewhere {...told} />
      <NotificationKinds {...told} />
      <InTheNotification {...told} />
      <section class="grp">
        <h2>{words.quiet}</h2>
        <div class="card tight">
          <LinkRow href="/settings/quiet" icon="moon" {...quietSummary(told.settings)} />
          <Snooze {...told} />
        </div>
      </section>
      <section class="grp">
        <h2>{words.unanswered}</h2>
        <div class="card tight">
          <LinkRow href="/settings/notifications/unanswered" icon="bell-ring" title={unansweredSummary(told)} />
        </div>
      </section>
      <InUseMinutes {...told} />
      <Channels {...told} />
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
  named?(told: NotificationContext): string | undefined
  always?(told: NotificationContext | undefined): ComponentChildren
  show(told: NotificationContext): ComponentChildren
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
  const told = link && book && reading?.type === 'told' ? { ...reading, link, book } : undefined
  return (
    <div class="screen">
      <Bar
        title={(told && props.named?.(told)) ?? props.title}
        sub={<SavingWord book={book} />}
        back={pathOf(parentOf(route.value))}
        keepBack
      />
      <div class="scroll">
        <div class="col form">
          {book && <Unsaved book={book} />}
          {props.always?.(told)}
          {told && props.show(told)}
          {!told && <Unread type={reading?.type} again={() => void book?.read()} />}
        </div>
      </div>
    </div>
  )
}
