import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent, UnsentHistory } from '../../../../lib/wrapper/agents/agent.ts'
import { createHelpers, readPast, readSince, turnEndOf, wasAllowed } from '../../../../lib/wrapper/agents/opencode/history.ts'
import { type History, history, message, part, session } from '../../../../lib/wrapper/agents/opencode/shapes.ts'

t.test('the stored end of a turn is how its last message ended', t => {
  t.strictSame(turnEndOf({ error: undefined }), { reason: 'done' })
  t.strictSame(turnEndOf({ error: { name: 'MessageAbortedError', data: undefined } }), { reason: 'cancelled' })
  t.strictSame(turnEndOf({ error: { name: 'APIError', data: { message: 'No more.' } } }), { reason: 'failed', error: 'No more.' })
  t.strictSame(turnEndOf({ error: { name: 'APIError', data: undefined } }), {
    reason: 'failed',
    error: 'opencode could not continue (APIError).'
  })
  t.end()
})

t.test('a turn has ended once its last message is complete and uses no tool whose result the model still reads', t => {
  const denied = 'The user rejected permission to use this specific tool call.'
  const cases: [info: object, error: string | undefined, hasEnded: boolean][] = [
    [{}, undefined, false],
    [{ completed: 3 }, undefined, true],
    [{ completed: 3, finish: 'stop' }, undefined, true],
    [{ completed: 3, finish: 'tool-calls' }, undefined, false],
    [{ completed: 3, finish: 'tool-calls', error: { name: 'MessageAbortedError' } }, undefined, true],
    [{ completed: 3, finish: 'tool-calls' }, 'No such file.', false],
    [{ completed: 3, finish: 'tool-calls' }, denied, true],
    [{ completed: 3, finish: 'tool-calls' }, 'The user dismissed this question', true],
    [{ completed: 3, finish: 'tool-calls' }, `${denied} with the following feedback: later`, false]
  ]
  for (const [{ completed, ...info }, error, hasEnded] of cases as [{ completed?: number }, string | undefined, boolean][]) {
    const state = error === undefined ? { status: 'completed' } : { status: 'error', error }
    const { events } = readSince({ file: 'c', offset: 0 }, stored(answer(2, completed, [tool(state)], info)))
    t.equal(events.at(-1)?.type === 'turn-ended', hasEnded, JSON.stringify({ completed, ...info, error }))
  }
  t.end()
})

t.test('only what was stored after a position is sent, with the ends of its turns', t => {
  const all = stored(prompt(1, 'one'), answer(2, 3), prompt(4, 'two'), answer(5, 6), prompt(6, 'steered'), answer(7, undefined))
  const { events, upTo } = readSince({ file: 'c', offset: 2 }, all)
  t.strictSame(
    events.map(event => ('text' in event ? `${event.type} ${event.text}` : event.type)),
    ['turn-ended', 'prompted two', 'text answer 5', 'prompted steered', 'text answer 7']
  )
  t.strictSame(upTo, { file: 'c', offset: 7 })
  t.strictSame(readSince({ file: 'c', offset: 7 }, all), { events: [], upTo: { file: 'c', offset: 7 } })
  t.strictSame(readSince({ file: 'c', offset: 5 }, []), { events: [], upTo: { file: 'c', offset: 5 } })
  t.end()
})

t.test('of a conversation begun without Afield the last turns are sent', t => {
  const turns = Array.from({ length: 21 }, (_, turn) => [prompt(turn * 10 + 1, `${turn}`), answer(turn * 10 + 2, turn * 10 + 3)])
  const prompts = ({ events }: UnsentHistory) => events.flatMap(event => (event.type === 'prompted' ? event.text : []))
  const past = readPast('c', stored(...turns.flat()))
  t.strictSame(
    prompts(past),
    Array.from({ length: 20 }, (_, turn) => `${turn + 1}`)
  )
  t.strictSame(past.upTo, { file: 'c', offset: 202 })
  t.strictSame(readPast('c', []).events, [])
  t.end()
})

t.test('a step ends as opencode stored it', t => {
  const cases: [state: object, status: string][] = [
    [{ status: 'completed' }, 'completed'],
    [{ status: 'error', error: 'No such file.' }, 'failed'],
    [{ status: 'error' }, 'failed'],
    [{ status: 'error', error: 'Tool execution aborted' }, 'cancelled'],
    [{ status: 'error', error: 'No.', metadata: { interrupted: true } }, 'cancelled'],
    [{ status: 'error', error: 'The user rejected permission.' }, 'denied'],
    [{ status: 'error', error: 'The user dismissed this question' }, 'denied'],
    [{ status: 'running' }, 'cancelled'],
    [{ status: 'pending' }, 'cancelled']
  ]
  for (const [state, status] of cases) {
    const { events } = readSince({ file: 'c', offset: 0 }, stored(answer(2, 3, [tool(state)])))
    t.match(events, [
      { type: 'step-started', row: 'tool begins' },
      { type: 'step-ended', status, row: 'tool ends' },
      { type: 'turn-ended' }
    ])
    t.equal(events.length, 3)
  }
  t.end()
})

t.test('how a request was answered shows in the result of its step, if at all', t => {
  const result = (state: object, call = 'c') => wasAllowed(call, stored(answer(2, 3, [tool(state)])))
  t.equal(result({ status: 'completed' }), true)
  t.equal(result({ status: 'running' }), true)
  t.equal(result({ status: 'error', error: 'The user rejected permission.' }), false)
  t.equal(result({ status: 'error', error: 'No such file.' }), undefined)
  t.equal(result({ status: 'error' }), undefined)
  t.equal(result({ status: 'completed' }, 'other'), undefined)
  t.end()
})

t.test('a subagent has its own steps, and ends once', t => {
  const told: AgentEvent[] = []
  const helpers = createHelpers(event => told.push(event))
  const begin = (id: string, parentID?: string, title = '') => helpers.begin(v.parse(session, { id, parentID, title }), 'c')
  begin('person')
  begin('first', 'c', 'Looks')
  begin('first', 'c', 'Looks')
  begin('second', 'first')
  begin('of another', 'elsewhere')
  t.strictSame(told, [
    { type: 'subagent-started', subagent: 'first', title: 'Looks', row: 'first begins' },
    { type: 'subagent-started', subagent: 'second', title: undefined, row: 'second begins' }
  ])
  t.strictSame(['person', 'first', 'second', 'of another'].map(helpers.isOfPerson), [true, false, false, false])
  t.equal(helpers.translatorOf('of another'), undefined)

  const translator = helpers.translatorOf('second')
  translator?.message(v.parse(message, answer(2, undefined).info))
  translator?.part(v.parse(part, tool({ status: 'running' })))
  t.equal(helpers.ofStep('c'), translator)
  t.equal(helpers.ofStep('other'), undefined)
  told.length = 0
  helpers.endAll()
  helpers.endAll()
  helpers.end('first')
  t.match(told, [
    { type: 'subagent-stopped', subagent: 'first', row: 'first ends' },
    { type: 'step-ended', status: 'cancelled', subagent: 'second' },
    { type: 'subagent-stopped', subagent: 'second', row: 'second ends' }
  ])
  t.equal(told.length, 3)
  t.end()
})

t.test('of a lost subagent the text is cut', t => {
  const told: AgentEvent[] = []
  const helpers = createHelpers(event => told.push(event))
  helpers.begin(v.parse(session, { id: 'first', parentID: 'c' }), 'c')
  const { info, parts } = answer(2, undefined)
  helpers.translatorOf('first')?.message(v.parse(message, info))
  for (const each of parts) helpers.translatorOf('first')?.part(v.parse(part, { ...each, time: {} }))
  helpers.endAll(true)
  t.match(told.slice(1), [
    { type: 'text', text: 'answer 2', isCut: true, row: 'text 2 cut', subagent: 'first' },
    { type: 'subagent-stopped' }
  ])
  t.end()
})

function stored(...entries: object[]): History {
  return v.parse(history, entries)
}

function prompt(created: number, text: string) {
  const ids = { id: `m${created}`, sessionID: 'c' }
  return {
    info: { ...ids, role: 'user', time: { created } },
    parts: [{ id: `prompt ${created}`, sessionID: 'c', messageID: ids.id, type: 'text', text }]
  }
}

function answer(created: number, completed: number | undefined, parts?: object[], about: object = {}) {
  const info = { id: `m${created}`, sessionID: 'c', role: 'assistant', time: { created, completed }, ...about }
  const text = {
    id: `text ${created}`,
    sessionID: 'c',
    messageID: info.id,
    type: 'text',
    text: `answer ${created}`,
    time: { end: created }
  }
  return { info, parts: parts ?? [text] }
}

function tool(state: object) {
  return { id: 'tool', sessionID: 'c', messageID: 'm2', type: 'tool', callID: 'c', tool: 'bash', state: { input: {}, ...state } }
}
