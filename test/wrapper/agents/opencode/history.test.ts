import t from 'tap'
import * as v from '../../../../lib/schema.ts'
import type { AgentEvent, UnsentHistory } from '../../../../lib/wrapper/agents/agent.ts'
import {
  createHelpers,
  createTranslator,
  newMessageId,
  readPast,
  readSince,
  turnEndOf,
  wasAllowed
} from '../../../../lib/wrapper/agents/opencode/history.ts'
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

t.test('a text is told when it is complete, and what follows it waits for that', t => {
  const { take, told, translator } = live()
  take.part({ id: 'a', type: 'text', text: 'on' })
  t.strictSame(told(), [], 'whose message it is is not known yet')
  take.message({})
  translator.delta({ messageID: 'm2', partID: 'a' }, 'e')
  translator.delta({ messageID: 'm2', partID: 'other' }, 'x')
  translator.delta({ messageID: 'm3', partID: 'a' }, 'x')
  take.part({ ...tool({ status: 'running' }), id: 'b' })
  translator.delta({ messageID: 'm2', partID: 'b' }, 'x')
  t.strictSame(told(), ['grows one'])
  take.part({ id: 'a', type: 'text', text: 'one two', time: { end: 3 } })
  translator.delta({ messageID: 'm2', partID: 'a' }, 'too late')
  take.part({ ...tool({ status: 'running', output: 'half' }), id: 'b' })
  take.part({ ...tool({ status: 'completed', output: 'whole' }), id: 'b' })
  take.part({ ...tool({ status: 'completed' }), id: 'b' })
  take.part({ id: 'a', type: 'text', text: 'one two', time: { end: 3 } })
  take.part({ id: 'c', type: 'reasoning', text: 'hm' })
  translator.delta({ messageID: 'm2', partID: 'c' }, 'm')
  take.message({ time: { created: 2, completed: 4 } })
  t.strictSame(told().slice(1), ['says one two', 'starts c', 'updates c', 'c completed', 'thinks as it grows hmm', 'thinks hmm'])
  take.part({ id: 'd', type: 'text', text: 'after all' })
  t.equal(told().at(-1), 'says after all', 'its message is complete')
  t.end()
})

t.test('the answer that is being written is the last of the model', t => {
  const { take, translator } = live()
  t.strictSame([translator.isOpen, translator.last], [false, undefined])
  take.message({})
  t.equal(translator.isOpen, true)
  take.message({ id: 'm3', role: 'user', time: { created: 3 } })
  t.equal(translator.last?.id, 'm2')
  take.message({ time: { created: 2, completed: 4 } })
  t.equal(translator.isOpen, false)
  take.message({ id: 'm5', time: { created: 5 } })
  t.strictSame([translator.isOpen, translator.last?.id], [true, 'm5'])
  translator.cut()
  t.strictSame([translator.isOpen, translator.last], [false, undefined])
  t.end()
})

t.test("a person's message is told once, without what opencode adds to it for the model", t => {
  const { take, told } = live()
  take.message({ role: 'user' })
  take.part({ id: 'a', type: 'text', text: 'Look' })
  take.part({ id: 'a', type: 'text', text: 'Look again' })
  take.part({ id: 'b', type: 'text', text: 'for the model', synthetic: true })
  take.part({ id: 'c', type: 'text', text: 'for nobody', ignored: true })
  take.part({ id: 'd', type: 'text', text: '' })
  take.part({ id: 'e', type: 'file', mime: 'image/png', filename: 'tea.png' })
  take.part({ id: 'f', type: 'file', mime: 'image/png' })
  take.part({ id: 'g', type: 'reasoning', text: 'hm' })
  take.part({ ...tool({ status: 'completed' }), id: 'h' })
  t.strictSame(told(), ['prompted elsewhere Look', 'prompted elsewhere [tea.png]', 'prompted elsewhere [image/png]'])

  const ours = live()
  const id = newMessageId(5)
  t.match(id, /^msg_000000005000Afield[0-9a-z]{8}$/)
  t.ok(newMessageId(4) < id && id < newMessageId(6), 'in the order of their times')
  ours.take.message({ id, role: 'user' })
  ours.take.part({ id: 'a', type: 'text', text: 'Look', messageID: id })
  t.strictSame(ours.told(), ['prompted by us Look'])

  const helped = live('helper')
  helped.take.message({ role: 'user' })
  helped.take.part({ id: 'a', type: 'text', text: 'Look' })
  t.strictSame(helped.told(), [], 'the prompt of a subagent is the work of its agent')
  t.end()
})

t.test('a subagent says and does its own; its text is told when complete', t => {
  const { take, events, translator } = live('helper')
  take.message({})
  take.part({ id: 'a', type: 'text', text: 'on' })
  translator.delta({ messageID: 'm2', partID: 'a' }, 'e')
  take.part({ ...tool({ status: 'completed' }), id: 'b' })
  take.message({ time: { created: 2, completed: 3 } })
  const subagent = 'helper'
  t.match(events, [
    { type: 'text', block: 'a', text: 'one', row: 'a', subagent },
    { type: 'step-started', row: 'b begins', subagent },
    { type: 'step-ended', row: 'b ends', subagent }
  ])
  t.equal(events.length, 3)
  t.end()
})

t.test('a step that is asked about is told first, with everything before it', t => {
  const { take, told, translator } = live()
  take.message({})
  take.part({ id: 'a', type: 'text', text: 'first' })
  take.part({ ...tool({ status: 'running', input: { command: 'make' } }), id: 'b' })
  take.part({ id: 'c', type: 'text', text: 'later' })
  t.equal(translator.beginStep({ messageID: 'm2', callID: 'other' }), undefined)
  t.equal(translator.beginStep({ messageID: 'm3', callID: 'c' }), undefined)
  t.strictSame([translator.hasStep('c'), translator.hasStep('other')], [true, false])
  t.strictSame(told(), [])
  t.match(translator.beginStep({ messageID: 'm2', callID: 'c' }), { call: 'c', title: 'make' })
  t.strictSame(told(), ['says first', 'starts c'])
  translator.deny('c')
  take.part({ ...tool({ status: 'error', error: 'No such file.' }), id: 'b' })
  t.equal(told().at(-1), 'c denied')
  translator.cut()
  t.strictSame(told().slice(3), ['says later'])
  take.part({ id: 'd', type: 'text', text: 'too late', time: { end: 9 } })
  take.message({ time: { created: 2, completed: 9 } })
  t.equal(told().length, 4, 'nothing of it is told any more')
  take.message({ id: 'm6' })
  take.part({ ...tool({ status: 'error', error: 'No such file.' }), id: 'e', messageID: 'm6' })
  t.equal(told().at(-1), 'c failed', 'the no was for the turn before')
  t.end()
})

t.test('a to-do list is a plan once it is written', t => {
  const { take, events } = live()
  const list = (status: string, content: string) => ({
    ...tool({ status, input: { todos: [{ content, status: 'pending' }] } }),
    tool: 'todowrite'
  })
  take.message({})
  take.part(list('running', 'Tea'))
  t.strictSame(events, [])
  take.part(list('completed', 'Tea'))
  take.part(list('completed', 'Cake'))
  t.strictSame(events, [{ type: 'plan', entries: [{ content: 'Tea', status: 'pending' }], row: 'tool' }])
  t.end()
})

t.test('of an answer that broke off, the last text is marked', t => {
  const parts = [
    { id: 'a', type: 'text', text: 'one' },
    { id: 'b', type: 'text', text: 'two' }
  ]
  const cut = (about: object) => ({ type: 'text', thinking: false, ...about })
  const cases: [name: string, end: (how: ReturnType<typeof live>) => void, texts: object[]][] = [
    ['complete', ({ translator }) => translator.cut(), [cut({ row: 'a' }), cut({ row: 'b' })]],
    [
      'stopped',
      ({ translator }) => {
        translator.breakOff()
        translator.cut()
      },
      [cut({ row: 'a' }), cut({ row: 'b', isStopped: true })]
    ],
    [
      'failed',
      ({ take }) => take.message({ time: { created: 2, completed: 3 }, error: { name: 'APIError' } }),
      [cut({ row: 'a' }), cut({ row: 'b', isStopped: true })]
    ],
    ['lost', ({ translator }) => translator.cut(true), [cut({ row: 'a cut', isCut: true }), cut({ row: 'b cut', isCut: true })]]
  ]
  for (const [name, end, texts] of cases) {
    const how = live()
    how.take.message({})
    for (const part of parts) how.take.part(part)
    end(how)
    t.strictSame(
      how.events,
      texts.map((text, index) => ({ block: parts[index]?.id, text: parts[index]?.text, ...text })),
      name
    )
    how.translator.cut()
    how.take.message({ id: 'm9' })
    how.take.part({ id: 'z', type: 'text', text: 'next', messageID: 'm9', time: { end: 9 } })
    t.strictSame(how.events.at(-1), { type: 'text', block: 'z', text: 'next', thinking: false, row: 'z' }, name)
  }
  const lost = live()
  lost.take.part({ id: 'a', type: 'text', text: 'whole', time: { end: 3 } })
  lost.translator.cut(true)
  t.strictSame(lost.told(), ['says whole'])
  t.strictSame(lost.events[0], { type: 'text', block: 'a', text: 'whole', thinking: false, row: 'a' })
  t.end()
})

/** What is told of a conversation while opencode reports it; the message of a part is the second one if not told otherwise. */
function live(subagent?: string) {
  const events: AgentEvent[] = []
  const translator = createTranslator({ emit: event => events.push(event), ...(subagent !== undefined && { subagent }) })
  const take = {
    message: (about: object) => translator.message(v.parse(message, { ...answer(2, undefined).info, ...about })),
    part: (about: object) => translator.part(v.parse(part, { sessionID: 'c', messageID: 'm2', ...about }))
  }
  return { translator, take, events, told: () => events.map(lineOf) }
}

function lineOf(event: AgentEvent): string {
  switch (event.type) {
    case 'text-grew':
      return `${event.thinking ? 'thinks as it ' : ''}grows ${event.text}`
    case 'text':
      return `${event.thinking ? 'thinks' : 'says'} ${event.text}`
    case 'prompted':
      return `prompted ${event.isOurs ? 'by us' : 'elsewhere'} ${event.text}`
    case 'step-started':
      return `starts ${event.step.call}`
    case 'step-updated':
      return `updates ${event.step.call}`
    case 'step-ended':
      return `${event.step.call} ${event.status}`
    default:
      return event.type
  }
}

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
