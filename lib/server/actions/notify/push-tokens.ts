import { failure } from '../../../protocol/wire/failures.ts'
import type { BodyOf, ReplyOf } from '../../../protocol/wire/routes.ts'
import type { DeliveryRow, PushTokenRow } from '../../../store/notices.ts'
import type { Deliveries } from '../../chores/deliveries.ts'
import type { Caller, Deps } from '../../deps.ts'
import type { PushProvider } from '../../push.ts'
import type { Metrics } from '../../watch/metrics.ts'
import { worthMs } from './notify.ts'

const dayMs = 24 * 60 * 60 * 1000
const shownDeliveries = 20
const mostDeliveriesRead = 5_000
const testWithinMs = 10_000

type ChannelDeps = Pick<Deps, 'store' | 'now' | 'newId'> & { providers: readonly PushProvider[] }
type Channel = ReplyOf<'readNotifications'>['channels'][number]

export async function addPushToken(
  { store, now, newId, quotas, providers }: ChannelDeps & Pick<Deps, 'quotas'>,
  caller: Caller,
  token: string
): Promise<void> {
  const flaw = providerOf(providers, token)?.flawOf(token)
  if (flaw !== undefined) throw failure('bad-input', flaw)
  await store.addPushToken(caller.account, { id: newId(), token, device: caller.device, now: now() }, quotas(caller.account))
}

/**
 * Our channels lead to a person's own devices and servers: shown in full to the device that registered
 * them, and to the others only that they exist.
 */
export async function listPushTokens({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<PushTokenRow[]> {
  const rows = await store.listChannels(caller.account)
  return rows.map(({ id, token, device, createdAt, updatedAt }) => ({
    id,
    token: caller.device !== null && device === caller.device ? token : token.replace(/^(WebPush|Ntfy|UnifiedPush|Webhook)\[.*$/s, '$1[…]'),
    createdAt,
    updatedAt
  }))
}

export async function removePushToken({ store }: Pick<Deps, 'store'>, caller: Caller, token: string): Promise<void> {
  await store.removePushToken(caller.account, token)
}

/** By its id, which every device of the account sees; its token is hidden. */
export async function removeChannel({ store }: Pick<Deps, 'store'>, caller: Caller, id: string): Promise<void> {
  await store.removeChannel(caller.account, id)
}

/** When the caller's device is notified, and how reliable every channel of the account is. */
export async function readNotifications({ store, now, providers }: ChannelDeps, caller: Caller): Promise<ReplyOf<'readNotifications'>> {
  const [channels, deliveries, settings] = await Promise.all([
    store.listChannels(caller.account),
    store.listDeliveries(caller.account, now() - 30 * dayMs, mostDeliveriesRead),
    caller.device === null ? null : store.readNotificationSettings(caller.account, caller.device)
  ])
  const byChannel = Map.groupBy(deliveries, ({ channel }) => channel)
  return {
    settings,
    channels: channels.map(({ id, token, device, deviceName, createdAt, updatedAt }): Channel => {
      const provider = providerOf(providers, token)
      return {
        ...{
          id,
          kind: provider?.kind ?? 'unknown',
          isOwn: device !== null && device === caller.device,
          device: deviceName,
          createdAt,
          updatedAt
        },
        acknowledges: provider?.acknowledges ?? false,
        health: healthOf(byChannel.get(id) ?? [], now() - 7 * dayMs)
      }
    })
  }
}

export async function writeNotifications(
  { store }: Pick<Deps, 'store'>,
  caller: Caller,
  { settings }: BodyOf<'writeNotifications'>
): Promise<void> {
  if (caller.device === null) throw failure('device-not-found')
  if ((await store.writeNotificationSettings(caller.account, caller.device, settings)) === 'missing') throw failure('device-not-found')
}

/** Sends a test, and waits for the result of the first attempt on each channel. */
export async function testNotification(
  deps: ChannelDeps & Pick<Deps, 'time'> & { deliveries: Pick<Deliveries, 'wake' | 'firstTry'> },
  caller: Caller,
  only: string | undefined
): Promise<ReplyOf<'testNotification'>> {
  const { store, time, newId, providers, deliveries } = deps
  const all = await store.listChannels(caller.account)
  const channels = only === undefined ? all : all.filter(({ id }) => id === only)
  if (only !== undefined && channels.length === 0) throw failure('channel-not-found')
  const [id, at] = [newId(), time()]
  const drafts = channels.map(channel => ({
    ...{
      channel: channel.id,
      channelKind: providerOf(providers, channel.token)?.kind ?? ('unknown' as const),
      receipt: newId(),
      dueAt: at
    },
    ...{ isSilent: false, isCollected: false, unlessWatched: false }
  }))
  const tried = deliveries.firstTry(caller.account, id, drafts.length, testWithinMs)
  await store.addNotice(caller.account, {
    ...{ id, kind: 'test', session: null, title: '', body: '', preview: null },
    ...{ now: at, expiresAt: at + worthMs.test, deliveries: drafts }
  })
  deliveries.wake()
  await tried
  const rows = await store.findDeliveries(caller.account, id)
  return { channels: rows.map(({ channel, outcome, reason }) => ({ id: channel, outcome, reason })) }
}

/** A receipt is the secret of one delivery; an unknown one is answered like one that was counted before. */
export async function acknowledgePush(
  { store, now, metrics }: Pick<Deps, 'store' | 'now'> & { metrics: Pick<Metrics, 'arrived'> },
  caller: Caller,
  receipt: string
): Promise<void> {
  if (caller.device === null) return
  if ((await store.acknowledgeDelivery(caller.account, caller.device, receipt, now())) === 'arrived') metrics.arrived()
}

function providerOf(providers: readonly PushProvider[], token: string): PushProvider | undefined {
  return providers.find(provider => provider.knows(token))
}

function healthOf(rows: readonly DeliveryRow[], since: number): Channel['health'] {
  const recent = rows.filter(({ createdAt }) => createdAt >= since)
  const delays = recent
    .map(delayOf)
    .filter(delay => delay !== null)
    .toSorted((a, b) => a - b)
  return {
    sent: recent.filter(({ outcome }) => outcome === 'accepted' || outcome === 'arrived').length,
    arrived: recent.filter(({ outcome }) => outcome === 'arrived').length,
    typicalMs: delays[Math.floor(delays.length / 2)] ?? null,
    slowestMs: delays.at(-1) ?? null,
    last: rows.slice(0, shownDeliveries).map(row => ({
      ...{ at: row.createdAt, kind: row.kind, outcome: row.outcome, reason: row.reason },
      arrivedAfterMs: delayOf(row)
    }))
  }
}

// From the notice to its arrival: a person's waiting time. The server's clock measures both.
function delayOf({ createdAt, arrivedAt }: DeliveryRow): number | null {
  return arrivedAt === null ? null : Math.max(0, arrivedAt - createdAt)
}
