import { accountTopic, type Signal } from '../../../bus/bus.ts'
import { failure } from '../../../protocol/wire/failures.ts'
import type { AccountId, SessionId } from '../../../protocol/wire/ids.ts'
import { pushKind, type RingKind } from '../../../protocol/wire/notifications.ts'
import type { BodyOf } from '../../../protocol/wire/routes.ts'
import * as v from '../../../schema.ts'
import type { ChannelRow, DeliveryDraft, DeliveryRow } from '../../../store/notices.ts'
import type { Deliveries } from '../../chores/deliveries.ts'
import type { Caller, Deps } from '../../deps.ts'
import type { PushReceipt, PushResult } from '../../push.ts'
import { noAnswer, noAnswerInTime, type PushProvider } from '../../push.ts'
import type { Metrics } from '../../watch/metrics.ts'
import { isDecisionKind, ringingOf } from './ringing.ts'

/** A caller waits no longer than 15 s; what was not tried by then is tried later. */
const firstTryWithinMs = 8_000
const shortTurnMs = 30_000
const minuteMs = 60_000
const hourMs = 60 * minuteMs

export interface NotifyDeps extends Pick<Deps, 'store' | 'bus' | 'now' | 'time' | 'clock' | 'newId' | 'quotas'> {
  /** The live connections. */
  hub: { isWatched(account: AccountId): Promise<boolean> }
  deliveries: Pick<Deliveries, 'wake' | 'firstTry'>
  providers: readonly PushProvider[]
  /** Whether titles and texts may leave the server for a provider. */
  pushTitles: boolean
  metrics: Pick<Metrics, 'notified' | 'arrived'>
  onError: (error: unknown) => void
}

/** Notifies the apps at once, and then the phones, unless an app of the account is in use. */
export async function notify(deps: NotifyDeps, caller: Caller, session: SessionId, request: BodyOf<'notify'>): Promise<PushResult> {
  if ((await deps.store.findSession(caller.account, session)) === 'missing') throw failure('session-not-found')
  const { kind } = request
  const result =
    kind === 'settled' ? await settle(deps, caller, session, request.noticeId) : await ring(deps, caller, session, { ...request, kind })
  deps.metrics.notified(result.result)
  return result
}

async function settle(deps: NotifyDeps, caller: Caller, session: SessionId, id: string | undefined): Promise<PushResult> {
  const { store, now, time, quotas, providers, deliveries } = deps
  const clears = providers.filter(provider => provider.clears).map(provider => provider.kind)
  const { settled } = await store.settleNotices(caller.account, { session, id, clears, now: time() }, quotas(caller.account))
  for (const notice of settled) tellApps(deps, caller, session, { type: 'notice', session, notice, kind: 'settled', at: now() })
  if (settled.length > 0) deliveries.wake()
  return { result: 'suppressed' }
}

async function ring(
  deps: NotifyDeps,
  caller: Caller,
  session: SessionId,
  request: Omit<BodyOf<'notify'>, 'kind'> & { kind: RingKind }
): Promise<PushResult> {
  const { hub, now, time, newId, pushTitles } = deps
  const { kind, title, body, noticeId, preview } = request
  const id = noticeId ?? newId()
  const tell = () => {
    // Existing apps know these four; the others, and the ids, are for clients that ask for our extensions.
    const known = v.safeParse(pushKind, kind)
    if (known.success) tellApps(deps, caller, session, { type: 'session-event', session, kind: known.data, title, body, at: now() })
    tellApps(deps, caller, session, { type: 'notice', session, notice: id, kind, at: now() })
  }
  const isWatched = await hub.isWatched(caller.account)
  // Only a notice with an id can be settled, and only such a one may be delivered late: an app in use now
  // may be gone then.
  const mayComeLate = noticeId !== undefined && isDecisionKind(kind)
  const why = isShortTurn(request) ? ('short-turn' as const) : isWatched && !mayComeLate ? ('active-ui-client' as const) : undefined
  const channels = why === undefined ? await deps.store.listChannels(caller.account) : []
  const drafts = channelDrafts(deps, channels, { kind, session }, isWatched)
  const words = pushTitles ? { title, body } : { title: '', body: '' }
  const at = time()
  const notice = { id, kind, session, ...words, preview: preview ?? null, now: at, expiresAt: at + worthMs[kind], deliveries: drafts }

  const dueNow = drafts.filter(({ dueAt }) => dueAt <= at).length
  const tried = deps.deliveries.firstTry(caller.account, id, dueNow, firstTryWithinMs)
  // A notice without an id is never repeated or settled: if it goes to no channel, nothing is stored.
  const isKept = drafts.length > 0 || noticeId !== undefined
  const isNew = !isKept || (await deps.store.addNotice(caller.account, notice, deps.quotas(caller.account))) === 'added'
  if (isNew) tell()
  if (why !== undefined) return { result: 'suppressed', reason: why }
  if (channels.length === 0) return { result: 'no_tokens' }
  deps.deliveries.wake()
  // A repeat gets the results of the first.
  if (isNew) await tried
  if (isWatched) return { result: 'suppressed', reason: 'active-ui-client' }
  return resultOf(await deps.store.findDeliveries(caller.account, id), dueNow)
}

/**
 * Tells all channels of an account about something outside any session, such as a new device; the caller
 * does not wait.
 */
export async function notifyAccount(
  deps: Pick<NotifyDeps, 'store' | 'time' | 'newId' | 'deliveries' | 'providers'>,
  account: AccountId,
  kind: 'device' | 'machine',
  words: { title: string; body: string } = { title: '', body: '' }
): Promise<void> {
  const channels = await deps.store.listChannels(account)
  const deliveries = channelDrafts(deps, channels, { kind, session: undefined }, false)
  if (deliveries.length === 0) return
  const at = deps.time()
  await deps.store.addNotice(account, {
    ...{ id: deps.newId(), kind, session: null, ...words, preview: null },
    ...{ now: at, expiresAt: at + worthMs[kind], deliveries }
  })
  deps.deliveries.wake()
}

/** One delivery for each channel that rings by its settings, and for each escalation channel. */
function channelDrafts(
  { time, newId, providers }: Pick<NotifyDeps, 'time' | 'newId' | 'providers'>,
  channels: readonly ChannelRow[],
  about: { kind: RingKind; session: SessionId | undefined },
  isWatched: boolean
): DeliveryDraft[] {
  const at = time()
  const kindOf = (token: string) => providers.find(provider => provider.knows(token))?.kind ?? 'unknown'
  const later = new Map<string, number>()
  if (isDecisionKind(about.kind)) {
    for (const { settings } of channels) {
      // In turn: the next is notified only when the previous one brought no answer either.
      for (const [before, channel] of (settings?.escalation?.to ?? []).entries()) {
        const dueAt = at + (before + 1) * (settings?.escalation?.afterMinutes ?? 0) * minuteMs
        later.set(channel, Math.min(dueAt, later.get(channel) ?? Number.POSITIVE_INFINITY))
      }
    }
  }
  return channels.flatMap(({ id, token, settings }): DeliveryDraft[] => {
    const draft = (dueAt: number, isSilent: boolean, isCollected: boolean): DeliveryDraft => ({
      ...{ channel: id, channelKind: kindOf(token), receipt: newId() },
      ...{ dueAt, isSilent, isCollected, unlessWatched: isWatched || dueAt > at }
    })
    const escalatedAt = later.get(id)
    if (escalatedAt !== undefined) return [draft(escalatedAt, false, false)]
    const ringing = ringingOf(settings, about, at)
    if (!ringing.rings) return []
    const delayMs = isWatched ? (settings?.watchedMinutes ?? 1) * minuteMs : 0
    return [draft(Math.max(ringing.at, at + delayMs), ringing.isSilent, ringing.isCollected)]
  })
}

function tellApps({ bus }: NotifyDeps, caller: Caller, session: SessionId, signal: Signal): void {
  bus.publish(accountTopic(caller.account), { type: 'signal', audience: { of: 'session', id: session }, skip: caller.skip, signal })
}

// The person who started it at the terminal is still there. Existing wrappers report neither, and are
// assumed to have a reason.
function isShortTurn({
  kind,
  turnMs = Number.POSITIVE_INFINITY,
  startedFrom
}: Omit<BodyOf<'notify'>, 'kind'> & { kind: RingKind }): boolean {
  return kind === 'done' && turnMs <= shortTurnMs && startedFrom !== 'phone'
}

/** How long a notice is worth delivering. */
export const worthMs: Record<RingKind, number> = {
  permission: 24 * hourMs,
  question: 24 * hourMs,
  done: 12 * hourMs,
  digest: 12 * hourMs,
  error: 24 * hourMs,
  failed: 24 * hourMs,
  silent: hourMs,
  machine: 12 * hourMs,
  device: 72 * hourMs,
  test: 5 * minuteMs
}

function resultOf(rows: readonly DeliveryRow[], tried: number): PushResult {
  if (tried === 0) return { result: 'suppressed' }
  const outcomes = rows.map(receiptOf)
  const delivered = outcomes.filter(outcome => outcome === 'delivered').length
  if (delivered >= tried) return { result: 'sent', tokens: tried, delivered }
  const [worst = 'unreachable'] = worstFirst.filter(outcome => outcomes.includes(outcome))
  return { result: delivered > 0 ? 'partial' : 'failed', tokens: tried, delivered, reason: worst }
}

function receiptOf({ outcome, reason }: DeliveryRow): PushReceipt['outcome'] {
  switch (outcome) {
    case 'accepted':
    case 'arrived':
      return 'delivered'
    case 'gone':
    case 'refused':
    case 'unknown':
      return outcome
    default:
      if (reason === null || reason === noAnswerInTime) return 'late'
      return reason === noAnswer ? 'unreachable' : 'refused'
  }
}

/** Errors that someone can fix come first. */
const worstFirst = ['late', 'unreachable', 'refused', 'unknown', 'gone'] as const
