import { accountTopic } from '../../bus/bus.ts'
import type { PayloadOf } from '../../protocol/wire/events.ts'
import { failure } from '../../protocol/wire/failures.ts'
import type { BodyOf, ReplyOf } from '../../protocol/wire/routes.ts'
import type { Caller, Deps } from '../deps.ts'

const bucketMs = { hour: 3_600_000, day: 86_400_000 }
const endOfTime = 8.64e15

/** Stores the latest report of a session and key, and notifies the apps if it belongs to a session. */
export async function reportUsage(
  { store, bus, now, newId, quotas }: Pick<Deps, 'store' | 'bus' | 'now' | 'newId' | 'quotas'>,
  caller: Caller,
  { key, sessionId, tokens, cost }: PayloadOf<'usage-report'>
): Promise<{ id: string; createdAt: number; updatedAt: number }> {
  const session = sessionId ?? null
  const at = now()
  const stored = await store.putUsageReport(caller.account, { id: newId(), key, session, tokens, cost, now: at }, quotas(caller.account))
  if (stored === 'missing') throw failure('session-not-found')

  if (session !== null) {
    const signal = { type: 'usage', session, key, at, tokens, cost } as const
    bus.publish(accountTopic(caller.account), { type: 'signal', audience: 'apps', skip: undefined, signal })
  }
  return stored
}

/** Sums by hour or day. The wire counts these times in seconds, the store in milliseconds. */
export async function queryUsage(
  { store }: Pick<Deps, 'store'>,
  caller: Caller,
  { sessionId, startTime, endTime, groupBy }: BodyOf<'queryUsage'>
): Promise<ReplyOf<'queryUsage'>> {
  const by = groupBy ?? 'day'
  const buckets = await store.readUsage(caller.account, {
    session: sessionId ?? null,
    from: (startTime ?? 0) * 1000,
    to: endTime == null ? endOfTime : endTime * 1000,
    bucketMs: bucketMs[by]
  })
  if (buckets === 'missing') throw failure('session-not-found')
  return {
    usage: buckets.map(({ at, tokens, cost, reports }) => ({ timestamp: at / 1000, tokens, cost, reportCount: reports })),
    groupBy: by,
    totalReports: buckets.reduce((sum, { reports }) => sum + reports, 0)
  }
}
