import t from 'tap'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { AuditEvent, ServerEvent } from '../../../lib/server/watch/events.ts'
import { listenersOf, watchRefusals } from '../../../lib/server/watch/listeners.ts'
import { uncounted } from '../../../lib/server/watch/metrics.ts'

const audit: AuditEvent = { type: 'sign-in-refused', reason: 'unknown-key', at: 1 }
const event: ServerEvent = { type: 'session-opened', account: v.parse(ids.accountId, 'ada'), session: v.parse(ids.sessionId, 's'), at: 1 }

t.test('without listeners there is nothing to tell, and one of them is enough', async t => {
  const onError = (error: unknown) => t.error(error)
  t.equal(listenersOf({ onAudit: undefined, onEvent: undefined }, onError), undefined)
  const heard: unknown[] = []
  for (const listener of [
    listenersOf({ onAudit: event => heard.push(event), onEvent: undefined }, onError),
    listenersOf({ onAudit: undefined, onEvent: event => heard.push(event) }, onError)
  ]) {
    listener?.onAudit(audit)
    listener?.onEvent(event)
  }
  t.same(heard, [audit, event])
})

t.test('an error of a listener is reported, and harms nobody', async t => {
  const errors: unknown[] = []
  const fail = () => {
    throw new Error('of the embedder')
  }
  const listeners = listenersOf({ onAudit: fail, onEvent: fail }, error => errors.push(error))
  listeners?.onAudit(audit)
  listeners?.onEvent(event)
  t.match(errors, [{ message: 'of the embedder' }, { message: 'of the embedder' }])
})

t.test('rejected clients are reported by route and status, and everything is counted', async t => {
  const heard: AuditEvent[] = []
  const counted: unknown[] = []
  const metrics = { ...uncounted, requestAnswered: (...answer: unknown[]) => counted.push(answer), arrived: () => counted.push('arrived') }
  const watched = watchRefusals(metrics, { onAudit: event => heard.push(event), onEvent() {} }, () => 9)
  const statuses = [200, 400, 401, 402, 403, 404, 429, 500, 'gone'] as const
  for (const status of statuses) watched.requestAnswered('GET /v1/sessions', status, 5)
  watched.arrived()
  t.strictSame(
    heard,
    ([401, 403, 429] as const).map(status => ({ type: 'request-refused', route: 'GET /v1/sessions', status, at: 9 }))
  )
  t.same(counted, [...statuses.map(status => ['GET /v1/sessions', status, 5]), 'arrived'])
  t.equal(
    watchRefusals(metrics, undefined, () => 9),
    metrics,
    'without listeners they are the same counters'
  )
})
