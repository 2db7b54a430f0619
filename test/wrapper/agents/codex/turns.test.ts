import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createTranslator } from '../../../../lib/wrapper/agents/codex/history.ts'
import { createRequests } from '../../../../lib/wrapper/agents/codex/requests.ts'
import { codexWindows, notification } from '../../../../lib/wrapper/agents/codex/shapes.ts'
import { createTurns } from '../../../../lib/wrapper/agents/codex/turns.ts'

t.test('what Codex reports of a turn is sent as it is', t => {
  const inTurn = { turnId: 't' }
  const grown = { ...inTurn, itemId: 'm', delta: 'so' }
  const usage = (modelContextWindow: number | null) => ({ tokenUsage: { last: { totalTokens: 5 }, modelContextWindow } })
  const steps = [
    { step: 'one', status: 'completed' },
    { step: 'two', status: 'inProgress' },
    { step: 'three', status: 'pending' },
    { step: 'four', status: 'unheard of' }
  ]
  const cases: [method: string, params: object, events: object[]][] = [
    ['item/agentMessage/delta', grown, [grew(false)]],
    ['item/plan/delta', grown, [grew(false)]],
    ['item/reasoning/summaryTextDelta', grown, [grew(true)]],
    ['item/reasoning/textDelta', grown, [grew(true)]],
    [
      'turn/plan/updated',
      { ...inTurn, plan: steps },
      [
        {
          type: 'plan',
          entries: [
            { content: 'one', status: 'completed' },
            { content: 'two', status: 'in_progress' },
            { content: 'three', status: 'pending' },
            { content: 'four', status: 'pending' }
          ]
        }
      ]
    ],
    ['thread/tokenUsage/updated', usage(100), [{ type: 'usage', used: 5, size: 100 }]],
    ['thread/tokenUsage/updated', usage(null), []],
    ['thread/name/updated', { threadName: 'A gate' }, [{ type: 'title', title: 'A gate' }]],
    ['thread/name/updated', { threadName: null }, []],
    ['error', { ...inTurn, willRetry: false, error: { message: 'No.' } }, []]
  ]
  for (const [method, params, events] of cases) t.strictSame(heard(method, params), events, method)
  t.end()
})

t.test('the next attempt is reported with its count and its reason, as far as Codex says', t => {
  const cases: [message: string, codexErrorInfo: unknown, retry: object][] = [
    ['Reconnecting… 2/5', undefined, { attempt: 2, of: 5, why: 'other' }],
    ['Reconnecting', 'serverOverloaded', { attempt: 1, why: 'overloaded' }],
    ['Reconnecting 3 / 5', { httpConnectionFailed: { httpStatusCode: 429 } }, { attempt: 3, of: 5, why: 'limit' }],
    ['Reconnecting', { responseStreamDisconnected: { httpStatusCode: 503 } }, { attempt: 1, why: 'overloaded' }],
    ['Reconnecting', { httpConnectionFailed: { httpStatusCode: 403 } }, { attempt: 1, why: 'sign-in' }],
    ['Reconnecting', { httpConnectionFailed: { httpStatusCode: null } }, { attempt: 1, why: 'unreachable' }]
  ]
  for (const [message, codexErrorInfo, retry] of cases) {
    const told = heard('error', { turnId: 't', willRetry: true, error: { message, codexErrorInfo } })
    t.strictSame(told, [{ type: 'retrying', inMs: 0, ...retry }], message)
  }
  t.end()
})

t.test('a limit of a model that is counted separately has its name', t => {
  const window = { usedPercent: 99.6, windowDurationMins: 300, resetsAt: 2 }
  const common = { limitId: undefined, limitName: undefined, primary: window, secondary: undefined, rateLimitReachedType: undefined }
  const shown = { minutes: 300, usedPercent: 100, resetsAt: 2_000, isReached: false }
  t.strictSame(codexWindows(common), [shown])
  t.strictSame(codexWindows({ ...common, limitId: 'codex', limitName: 'Codex' }), [shown])
  t.strictSame(codexWindows({ ...common, limitId: 'spark', limitName: 'Spark' }), [{ ...shown, of: 'Spark' }])
  t.strictSame(codexWindows({ ...common, limitId: 'spark' }), [{ ...shown, of: 'spark' }])
  t.strictSame(codexWindows({ ...common, rateLimitReachedType: 'primary' }), [shown], 'another one is reached')
  const full = { ...window, usedPercent: 100 }
  t.strictSame(codexWindows({ ...common, primary: undefined, secondary: full, rateLimitReachedType: 'secondary' }), [
    { ...shown, isReached: true }
  ])
  t.strictSame(codexWindows({ ...common, primary: { ...window, windowDurationMins: undefined } }), [])
  t.end()
})

/** The events of a turn in which Codex reports this. */
function heard(method: string, params: object): AgentEvent[] {
  const events: AgentEvent[] = []
  const emit = (event: AgentEvent) => void events.push(event)
  const translator = createTranslator({ emit, isOurs: () => false })
  const requests = createRequests({ emit, reply() {}, step: translator.step })
  const turns = createTurns({ emit, translator, requests, onSettings() {}, onEnd() {} })
  turns.begin('t')
  turns.take(v.parse(notification, { method, params: { threadId: 'thread', ...params } }))
  return events
}

function grew(thinking: boolean) {
  return { type: 'text-grew', block: 'm', text: 'so', thinking }
}
