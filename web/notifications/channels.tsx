import { useState } from 'preact/hooks'
import { now } from '../core/clock.ts'
import { goFromLayer } from '../core/router.ts'
import { pathOf } from '../core/routes.ts'
import { healthOf } from '../model/notifications/channel-health.ts'
import type { Channel, NotificationContext } from '../model/notifications/notifications.ts'
import { LinkRow } from '../session/row/row.tsx'
import { Banner, Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import type { IconName } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { offerUndo } from '../ui/undo.ts'
import { notifications as words } from '../words/notifications.ts'
import { healthWords, missingWords, nameOfChannel, othersOf } from './channel-words.ts'
import { HealthCard } from './health.tsx'
import { removeWithUndo } from './new-channel.ts'

/** All other channels of this account, their delivery rates, and ways to add one. */
export function Channels({ channels }: Pick<NotificationContext, 'channels'>) {
  const others = othersOf(channels)
  return (
    <section class="grp">
      <h2>{words.channels}</h2>
      <ul class="card tight">
        {others.map(channel => (
          <li key={channel.id}>
            <LinkRow href={hrefOf(channel)} icon={icons[channel.kind]} title={nameOfChannel(channel)} text={healthWords(channel)} />
          </li>
        ))}
        <li>
          <LinkRow href="/settings/notifications/ntfy" icon="plus" title={words.addNtfy} text={words.addNtfyText} />
        </li>
        <li>
          <LinkRow href="/settings/notifications/webhook" icon="plus" title={words.addWebhook} text={words.addWebhookText} />
        </li>
      </ul>
      {others.length > 0 && <p class="hint">{words.channelsHint}</p>}
    </section>
  )
}

function hrefOf({ id }: Channel): string {
  return pathOf({ name: 'settings', page: 'notifications', item: id })
}

/** One other channel: its delivery rate, a test, and a way to remove it. */
export function OneChannel({ id, ...context }: NotificationContext & { id: string }) {
  const [isRemoving, setRemoving] = useState(false)
  const channel = context.channels.find(each => each.id === id)
  if (!channel) {
    return (
      <Empty title={words.channelUnknown} text={words.channelUnknownText}>
        <ButtonLink look="quiet" href="/settings/notifications">
          {words.title}
        </ButtonLink>
      </Empty>
    )
  }
  const { state, cause } = healthOf(channel, now.value)
  return (
    <>
      <HealthCard link={context.link} channel={channel} title={state === 'missing' ? missingWords(channel) : healthWords(channel)} />
      {cause && <Banner icon="triangle-alert" needs title={words.channelCause} text={words.causes[cause]} />}
      <Button look="text" onClick={() => setRemoving(true)}>
        {words.remove}
      </Button>
      {isRemoving && <RemoveSheet context={context} channel={channel} onClose={() => setRemoving(false)} />}
    </>
  )
}

/** Other channels whose last two notifications did not arrive. */
export function MissingElsewhere({ channels }: Pick<NotificationContext, 'channels'>) {
  return (
    <>
      {othersOf(channels).map(channel => {
        const { cause } = healthOf(channel, now.value)
        return cause && <Banner key={channel.id} icon="triangle-alert" needs title={missingWords(channel)} text={words.causes[cause]} />
      })}
    </>
  )
}

function RemoveSheet({ context: { link, book }, channel, onClose }: { context: NotificationContext; channel: Channel; onClose(): void }) {
  const { isBusy, run } = useBusy()
  const [hasFailed, setFailed] = useState(false)
  const remove = () =>
    run(async () => {
      try {
        const putBack = await removeWithUndo(link, channel)
        goFromLayer({ name: 'settings', page: 'notifications' })
        await book.read()
        if (putBack) offerUndo(words.removed, { undo: () => void putBack().then(book.read, () => {}) })
      } catch {
        setFailed(true)
      }
    })
  const isApp = ['expo', 'web-push', 'unified-push'].includes(channel.kind)
  return (
    <Sheet title={words.removeTitle(nameOfChannel(channel))} onClose={onClose}>
      <p class="lead">{isApp ? words.removeApp : words.removeAddress}</p>
      {hasFailed && <Problem title={words.notDone} text={words.notDoneText} />}
      <Button look="danger" isLarge isWide onClick={() => void remove()} busy={isBusy && words.removing}>
        {words.remove}
      </Button>
    </Sheet>
  )
}

const icons: Record<Channel['kind'], IconName> = {
  expo: 'smartphone',
  'web-push': 'globe',
  ntfy: 'bell',
  'unified-push': 'smartphone',
  webhook: 'workflow',
  own: 'server',
  unknown: 'circle-dashed'
}
