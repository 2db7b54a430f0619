import { accountTopic } from '../../bus/bus.ts'
import { failure } from '../../protocol/wire/failures.ts'
import type { AccountId, SessionId } from '../../protocol/wire/ids.ts'
import type { PushKind } from '../../protocol/wire/routes/push.ts'
import type { BodyOf } from '../../protocol/wire/routes.ts'
import type { Metrics } from '../metrics.ts'
import type { Push, PushReceipt, PushResult } from '../push.ts'
import type { Caller, Deps } from './deps.ts'

/** For all providers together: whoever asked waits no longer than 15 s. */
const pushWithinMs = 8_000
const shortTurnMs = 30_000

export interface NotifyDeps extends Pick<Deps, 'store' | 'bus' | 'now' | 'clock'> {
  /** The live connections. */
  hub: { hasVisibleApp(account: AccountId): boolean }
  push: Push
  /** Whether titles and texts may leave the server for a provider. */
  pushTitles: boolean
  metrics: Pick<Metrics, 'notified'>
  onError: (error: unknown) => void
}

/** Tells the apps at once, and then the phones, unless somebody looks at an app of the account. */
export async function notify(deps: NotifyDeps, caller: Caller, session: SessionId, told: BodyOf<'notify'>): Promise<PushResult> {
  const { store, bus, now, metrics } = deps
  if ((await store.findSession(caller.account, session)) === 'missing') throw failure('session-not-found')

  const { kind, title, body } = told
  bus.publish(accountTopic(caller.account), {
    type: 'signal',
    audience: { of: 'session', id: session },
    skip: caller.skip,
    signal: { type: 'session-event', session, kind, title, body, at: now() }
  })
  const result = await notifyPhones(deps, caller, session, told)
  metrics.notified(result.result)
  return result
}

async function notifyPhones(deps: NotifyDeps, caller: Caller, session: SessionId, told: BodyOf<'notify'>): Promise<PushResult> {
  const { store, hub, pushTitles } = deps
  if (isShortTurn(told)) return { result: 'suppressed', reason: 'short-turn' }
  if (hub.hasVisibleApp(caller.account)) return { result: 'suppressed', reason: 'active-ui-client' }
  const tokens = (await store.listPushTokens(caller.account)).map(({ token }) => token)
  if (tokens.length === 0) return { result: 'no_tokens' }

  const { kind } = told
  const { title, body } = pushTitles ? told : silentWords[kind]
  const receipts = await sendInTime(deps, { kind, session, title, body }, tokens)
  for (const { token, outcome } of receipts) if (outcome === 'gone') await store.removePushToken(caller.account, token)
  return resultOf(tokens, receipts)
}

// Who started it at the terminal is still there. Existing wrappers tell neither, and are believed to have a reason.
function isShortTurn({ kind, turnMs = Number.POSITIVE_INFINITY, startedFrom }: BodyOf<'notify'>): boolean {
  return kind === 'done' && turnMs <= shortTurnMs && startedFrom !== 'phone'
}

async function sendInTime({ push, clock, onError }: NotifyDeps, notice: Parameters<Push>[0], tokens: string[]): Promise<PushReceipt[]> {
  const controller = new AbortController()
  const cancel = clock.after(pushWithinMs, () => controller.abort())
  try {
    return await push(notice, tokens, controller.signal)
  } catch (error) {
    // It was told to the apps already; that no phone hears of it is an answer, not a failure of the request.
    onError(error)
    return []
  } finally {
    cancel()
  }
}

// Providers, phone makers and lock screens read these words, so they say nothing of what the agent does.
const silentWords: Record<PushKind, { title: string; body: string }> = {
  done: { title: 'Your agent is done', body: 'Open the app to see it.' },
  permission: { title: 'Your agent needs a decision', body: 'Open the app to decide.' },
  question: { title: 'Your agent has a question', body: 'Open the app to answer.' },
  error: { title: 'Your agent ran into an error', body: 'Open the app to see it.' }
}

function resultOf(tokens: readonly string[], receipts: readonly PushReceipt[]): PushResult {
  const delivered = receipts.filter(({ outcome }) => outcome === 'delivered').length
  if (delivered === tokens.length) return { result: 'sent', tokens: tokens.length, delivered }
  const [worst = 'unreachable'] = worstFirst.filter(outcome => receipts.some(receipt => receipt.outcome === outcome))
  return { result: delivered > 0 ? 'partial' : 'failed', tokens: tokens.length, delivered, reason: worst }
}

/** What somebody can mend comes first. */
const worstFirst = ['late', 'unreachable', 'refused', 'unknown', 'gone'] as const
