import { useState } from 'preact/hooks'
import { Icon, type IconName } from '../icons/icon.tsx'
import { Banner, Problem } from '../parts/banner.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button } from '../parts/button.tsx'
import { LinkRow } from '../parts/row.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { offerUndo } from '../parts/undo.tsx'
import { closeLayer } from '../router.ts'
import { takeChannelAway } from '../state/adding-channels.ts'
import { healthOf } from '../state/channel-health.ts'
import { now } from '../state/clock.ts'
import type { Channel } from '../state/notifications.ts'
import { notifications as words } from '../words/notifications.ts'
import type { Told } from './notifications.tsx'
import { TestButton } from './notifications-test.tsx'

/** Everything else that rings for this account, how well it is reached, and how to add to it. */
export function Channels(told: Told) {
  const [open, setOpen] = useState<{ channel: Channel; to: 'test' | 'remove' }>()
  const close = () => setOpen(undefined)
  const others = othersOf(told.channels)
  return (
    <section class="grp">
      <h2>{words.channels}</h2>
      <ul class="card tight">
        {others.map(channel => (
          <li key={channel.id}>
            <ChannelRow channel={channel} onAsk={to => setOpen({ channel, to })} />
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
      {open?.to === 'test' && (
        <Sheet title={nameOfChannel(open.channel)} onClose={close}>
          <TestButton link={told.link} channel={open.channel} />
        </Sheet>
      )}
      {open?.to === 'remove' && <RemoveSheet told={told} channel={open.channel} onClose={close} />}
    </section>
  )
}

function ChannelRow({ channel, onAsk }: { channel: Channel; onAsk(to: 'test' | 'remove'): void }) {
  const name = nameOfChannel(channel)
  return (
    <div class="irow">
      <Icon name={icons[channel.kind]} />
      <span>
        <b dir="auto">{name}</b>
        <small>{healthWords(channel)}</small>
      </span>
      <span class="device-acts">
        <button class="ib" type="button" onClick={() => onAsk('test')} aria-label={words.channelTest(name)}>
          <Icon name="bell-ring" />
        </button>
        <button class="ib" type="button" onClick={() => onAsk('remove')} aria-label={words.channelRemove(name)}>
          <Icon name="trash" />
        </button>
      </span>
    </div>
  )
}

/** Other places at which two in a row did not come. */
export function MissingElsewhere({ channels }: Pick<Told, 'channels'>) {
  return (
    <>
      {othersOf(channels).map(channel => {
        const { cause } = healthOf(channel, now.value)
        return cause && <Banner key={channel.id} icon="triangle-alert" needs title={missingWords(channel)} text={words.causes[cause]} />
      })}
    </>
  )
}

function missingWords(channel: Channel): string {
  const { acknowledges, device, health } = channel
  return acknowledges
    ? words.elsewhereMissing(device || nameOfChannel(channel), health.arrived, health.sent)
    : words.elsewhereFails(nameOfChannel(channel))
}

/** All but this browser, which has a card of its own. */
export function othersOf(channels: readonly Channel[]): Channel[] {
  return channels.filter(({ isOwn, kind }) => !(isOwn && kind === 'web-push'))
}

function RemoveSheet({ told: { link, book }, channel, onClose }: { told: Told; channel: Channel; onClose(): void }) {
  const { isBusy, run } = useBusy()
  const [hasFailed, setFailed] = useState(false)
  const remove = () =>
    run(async () => {
      try {
        const putBack = await takeChannelAway(link, channel)
        await book.read()
        closeLayer()
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

export function nameOfChannel({ kind, isOwn, device }: Channel): string {
  const name = words.channelKinds[kind]
  if (isOwn) return words.channelHere(name)
  return device === null || device === '' ? name : words.channelOf(name, device)
}

function healthWords({ acknowledges, health: { sent, arrived } }: Channel): string {
  if (sent === 0) return words.channelNone
  return acknowledges ? words.channelArrived(arrived, sent) : words.channelSent(sent)
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
