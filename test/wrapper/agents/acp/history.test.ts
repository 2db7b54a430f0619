import t from 'tap'
import {
  createTurnTracker,
  followReplay,
  followReplayFrom,
  type Place,
  placeOf,
  readPlace,
  type TurnTracker
} from '../../../../lib/wrapper/agents/acp/history.ts'
import type { Update } from '../../../../lib/wrapper/agents/acp/messages.ts'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'

const asked = (text: string): Update => ({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text } })
const says = (text: string): Update => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
const thinks = (text: string): Update => ({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } })
const does = (toolCallId: string): Update => ({ sessionUpdate: 'tool_call', toolCallId, title: 'Look', kind: 'read', status: 'completed' })

const text = (text: string, thinking = false): AgentEvent => ({ type: 'text', block: 'any', text, thinking })

/** Where a conversation stands in whose last turn this was told. */
function placeAfter(prompt: string, events: readonly AgentEvent[], { before = 0, also = (_: TurnTracker) => {} } = {}): Place {
  const tracker = createTurnTracker()
  tracker.goOn(before)
  tracker.begin(prompt)
  for (const event of events) tracker.name(event)
  also(tracker)
  const place = tracker.place('one')
  if (!place) throw new Error('no turn was begun')
  return place
}

/** What is told of the rest when the agent repeats this. */
function rest(place: Place, repeated: readonly Update[]): string[] {
  const past = followReplayFrom(place)
  for (const update of repeated) past.take(update)
  return past.end().events.map(event => {
    if (event.type === 'text') return `${event.thinking ? 'thinks' : 'says'} ${event.text.trim()}`
    if (event.type === 'prompted') return `asked ${event.text}`
    return event.type === 'step-ended' ? `did ${event.step.call}` : event.type
  })
}

t.test('sent text is found in repeated history, however that is split', t => {
  const place = placeAfter('go', [text('one two'), text('three')])
  const cases: Update[][] = [
    [says('one two'), does('a'), says('three'), does('b'), says('four five')],
    [says('one\ntwo\nthree\nfour five')],
    [says('one two three four'), says(' five')]
  ]
  const heard = cases.map(repeated => rest(place, [asked('go'), ...repeated]).filter(line => line.startsWith('says')))
  t.strictSame(heard, [['says four five'], ['says four five'], ['says four five']])
  t.end()
})

t.test('text that may have been sent but was not recorded has the name it was sent under', t => {
  const tracker = createTurnTracker()
  tracker.goOn(0)
  tracker.begin('go')
  const place = tracker.place('one')
  const step = { call: 'a', name: 'Read', title: 'Look', kind: 'read', input: {}, locations: [], content: [] } as const
  const live: AgentEvent[] = [
    text('one'),
    { type: 'step-started', step: { ...step, locations: [], content: [] } },
    { type: 'step-ended', step: { ...step, locations: [], content: [] }, status: 'completed' },
    text('one'),
    { type: 'plan', entries: [] },
    { type: 'plan', entries: [] }
  ]
  const rows = (events: readonly AgentEvent[]) => events.map(event => ('row' in event ? event.row : undefined))
  const names = rows(live.map(event => tracker.name(event)))
  t.equal(new Set(names).size, live.length, 'each its own, also what is said twice')
  const past = followReplayFrom(place as Place)
  const plan: Update = { sessionUpdate: 'plan', entries: [] }
  for (const update of [asked('go'), says('one'), does('a'), says('one'), plan, plan]) past.take(update)
  t.strictSame(rows(past.end().events), names)
  t.end()
})

t.test('thoughts that an agent repeats differently are not sent again', t => {
  const place = placeAfter('go', [text('hm, let me see', true), text('one')])
  t.strictSame(rest(place, [asked('go'), says('one'), says(' two')]), ['says two'])
  t.strictSame(rest(place, [asked('go'), thinks('a summary'), says('one two')]), ['says two'])
  t.end()
})

t.test('of two turns that began with the same words the right one is continued, and none if uncertain', t => {
  const first = [asked('on'), says('one')]
  t.strictSame(rest(placeAfter('on', [], { before: 1 }), [...first, asked('on'), says('two')]), ['says two'])
  t.strictSame(rest(placeAfter('on', [], { before: 1 }), first), [], 'the agent never kept the second')
  t.strictSame(rest(placeAfter('on', [text('two')], { before: 5 }), [...first, asked('on'), says('two three')]), ['says three'])
  t.strictSame(rest(placeAfter('on', [text('other')], { before: 5 }), first), [])
  t.end()
})

t.test('input into a running turn is not a turn of its own, and input from elsewhere is', t => {
  const place = placeAfter('go', [text('one')], { also: tracker => tracker.steer('faster') })
  t.strictSame(rest(place, [asked('go'), says('one'), asked('faster'), says('two'), asked('from elsewhere'), says('three')]), [
    'says two',
    'turn-ended',
    'asked from elsewhere',
    'says three',
    'turn-ended'
  ])
  t.end()
})

t.test('a turn of the same words as input before it is the one that was counted', t => {
  const steer = (tracker: TurnTracker) => tracker.steer('on')
  const place = placeAfter('on', [], { before: 1, also: steer })
  t.strictSame(rest(place, [asked('first'), says('one'), asked('on'), says('two'), asked('on'), says(' three')]), ['says two three'])
  t.end()
})

t.test('the beginning of the conversation itself is found by what was said in it', t => {
  const place = placeAfter('go', [text('one')], { before: 5 })
  t.strictSame(rest(place, [asked('go'), says('one two')]), ['says two'])
  t.strictSame(rest(placeAfter('go', [], { before: 5 }), [asked('go'), says('one two')]), [], 'nothing was said yet')
  t.strictSame(rest(place, [asked('other'), says('one two')]), [], 'no such prompt')
  t.end()
})

t.test('what the agent repeats is complete: its last text is not marked as stopped', t => {
  const past = followReplayFrom(placeAfter('go', []))
  for (const update of [asked('go'), says('one')]) past.take(update)
  const [event] = past.end().events
  t.equal(event && 'isStopped' in event, false)
  t.end()
})

t.test('a truncated text is sent whole, and a completed turn is not sent again', t => {
  t.strictSame(
    rest(placeAfter('go', [{ type: 'text', block: 'b', text: 'on', thinking: false, isCut: true }]), [asked('go'), says('one')]),
    ['says one']
  )
  t.strictSame(rest(placeAfter('go', [{ type: 'turn-ended', reason: 'done' }]), [asked('go'), says('one')]), [])
  t.end()
})

t.test('a picture that may have been sent keeps the name it was sent under', t => {
  const bytes = Buffer.from('GIF89a a small one')
  const tracker = createTurnTracker()
  tracker.goOn(0)
  tracker.begin('go')
  const place = tracker.place('one')
  const shown = tracker.name({ type: 'picture', name: 'picture.gif', mimeType: 'image/gif', bytes })
  const past = followReplayFrom(place as Place)
  past.take(asked('go'))
  const content = { type: 'image' as const, data: bytes.toString('base64'), mimeType: 'image/gif' }
  past.take({ sessionUpdate: 'agent_message_chunk', content })
  const [again] = past.end().events
  t.match(again, { type: 'text', text: '[picture.gif]', thinking: false })
  t.ok(again && shown && 'row' in again && 'row' in shown && again.row !== undefined && again.row === shown.row)
  t.end()
})

t.test('a cursor is read as it was stored, and no other kind of cursor is accepted as one', t => {
  const place = placeAfter('go', [text('one')])
  t.strictSame(readPlace(placeOf(place)), place)
  t.equal(placeOf(place).offset, 0)
  for (const file of ['codex:thread/turn/end', '/home/me/a.jsonl', 'acp:{', 'acp:{}'])
    t.equal(readPlace({ file, offset: 0 }), undefined, file)
  t.end()
})

t.test('a conversation begun without Afield is told as turns, under the same names each time', t => {
  const past = followReplay('one')
  past.take(says('before any prompt'))
  past.take(asked('do '))
  past.take(asked('it'))
  past.take({ sessionUpdate: 'user_message_chunk', content: undefined })
  past.take(says('done'))
  past.take(does('a'))
  past.take({ sessionUpdate: 'session_info_update', title: 'Not again' })
  past.take(thinks('hm'))
  past.take(asked('and that'))
  t.equal(past.messages, 2)
  const { events, upTo } = past.end()
  t.equal(upTo, undefined)
  t.match(events, [
    { type: 'prompted', text: 'do it', isOurs: false, row: 'one 1' },
    { type: 'text', text: 'done', row: 'one 2' },
    { type: 'step-started', step: { call: 'a' } },
    { type: 'step-ended', status: 'completed' },
    { type: 'text', text: 'hm', thinking: true, row: 'one 5' },
    { type: 'turn-ended', reason: 'done' },
    { type: 'prompted', text: 'and that', row: 'one 6' },
    { type: 'turn-ended', reason: 'done' }
  ])
  t.equal(events.length, 8)
  const words = events.flatMap(event => (event.type === 'prompted' || event.type === 'text' ? [event.text] : []))
  t.strictSame(words, ['do it', 'done', 'hm', 'and that'])
  t.strictSame(followReplay('one').end().events, [])
  t.end()
})

t.test('everything of a turn has a name of its own, until the turn has ended', t => {
  const tracker = createTurnTracker()
  const rowOf = (event: AgentEvent) => {
    const named = tracker.name(event)
    return 'row' in named ? named.row : undefined
  }
  t.equal(tracker.place('one'), undefined)
  t.equal(rowOf(text('before any turn')), undefined)
  tracker.begin('go')
  const turn = tracker.place('one')?.turn
  const step = { call: 'a', name: 'Read', title: 'Look', kind: 'read' as const, input: {}, locations: [], content: [] }
  const events: [event: AgentEvent, row: string | undefined][] = [
    [{ type: 'step-started', step }, 'a begins 1'],
    [{ type: 'step-updated', step }, undefined],
    [{ type: 'step-ended', step, status: 'completed' }, 'a ends 1'],
    [{ type: 'step-started', step }, 'a begins 2'],
    [{ type: 'subagent-started', subagent: 's', title: 'Helper' }, 's subagent-started 1'],
    [{ type: 'subagent-stopped', subagent: 's' }, 's subagent-stopped 1'],
    [{ type: 'title', title: 'Tea' }, undefined],
    [{ type: 'turn-ended', reason: 'failed', error: 'Gone.', isLost: true }, undefined],
    [{ type: 'step-ended', step, status: 'completed' }, 'a ends 2'],
    [{ type: 'turn-ended', reason: 'done' }, undefined],
    [{ type: 'step-started', step }, undefined]
  ]
  for (const [event, row] of events) t.equal(rowOf(event), row && `${turn} ${row}`, event.type)
  t.equal(tracker.place('one')?.isEnded, true)
  t.end()
})

t.test('a text has the name of its words and of those before it of its kind, wherever its lines break', t => {
  const names = (...texts: AgentEvent[]) => {
    const tracker = createTurnTracker()
    tracker.begin('go')
    const { turn = '' } = tracker.place('one') ?? {}
    return texts.map(event => {
      const named = tracker.name(event)
      return 'row' in named ? named.row?.replace(turn, 'turn') : undefined
    })
  }
  const [first, second, thought, helped, cut, again] = names(
    text('one two'),
    text('three'),
    text('one two', true),
    { type: 'text', block: 'b', text: 'one two', thinking: false, subagent: 's' },
    { type: 'text', block: 'b', text: 'fo', thinking: false, isCut: true },
    text('four')
  )
  const digest = first?.split(' ').at(-1)
  t.strictSame([first, thought, helped], [`turn says 0 ${digest}`, `turn thinks 0 ${digest}`, `turn says s 0 ${digest}`])
  t.match(second, /^turn says 6 \S+$/)
  t.match(cut, /^turn says 11 \S+ cut$/)
  t.match(again, /^turn says 11 \S+$/, 'a cut text was not said')
  t.strictSame(names(text('one\n\ntwo'), text(' three ')), [first, second])
  t.end()
})

t.test('a cursor is worth storing when nothing before it is open', t => {
  const tracker = createTurnTracker()
  t.equal(tracker.isSettled(text('before any turn')), false)
  tracker.begin('go')
  const step = (call: string) => ({ call, name: 'Read', title: 'Look', kind: 'read' as const, input: {}, locations: [], content: [] })
  const starts = (call: string): AgentEvent => ({ type: 'step-started', step: step(call) })
  const ends = (call: string): AgentEvent => ({ type: 'step-ended', step: step(call), status: 'completed' })
  const events: [event: AgentEvent, isSettled: boolean][] = [
    [starts('a'), false],
    [starts('b'), false],
    [ends('a'), false],
    [text('one'), true],
    [{ type: 'plan', entries: [] }, false],
    [ends('b'), true],
    [{ type: 'plan', entries: [] }, false],
    [{ type: 'turn-ended', reason: 'done' }, true]
  ]
  for (const [event, isSettled] of events) {
    tracker.name(event)
    t.equal(tracker.isSettled(event), isSettled, event.type)
  }
  t.end()
})

t.test('prompts are counted once the number before them is known, and kept by their beginning', t => {
  const tracker = createTurnTracker()
  tracker.begin(`go ${'x'.repeat(300)}`)
  tracker.steer(`faster ${'y'.repeat(300)}`)
  t.match(tracker.place('one'), {
    conversation: 'one',
    messages: undefined,
    prompt: `go${'x'.repeat(198)}`,
    steered: [`faster${'y'.repeat(194)}`],
    said: {},
    isEnded: false
  })
  tracker.goOn(3)
  tracker.begin('next')
  tracker.steer('faster')
  t.match(tracker.place('two'), { conversation: 'two', messages: 5, prompt: 'next', steered: ['faster'] })
  t.end()
})

t.test('a prompt given again counts once, also in a conversation that began anew', t => {
  const tracker = createTurnTracker()
  const messages = () => tracker.place('one')?.messages
  tracker.goOn(3)
  tracker.begin('go')
  tracker.promptAgain()
  t.equal(messages(), 4)
  tracker.goOn(0)
  tracker.promptAgain()
  tracker.promptAgain()
  t.equal(messages(), 1)
  tracker.goOn(undefined)
  tracker.promptAgain()
  t.equal(messages(), undefined)
  t.end()
})

t.test('a named event is otherwise as it was', t => {
  const step = { call: 'a', name: 'Read', title: 'Look', kind: 'read' as const, input: {}, locations: [], content: [] }
  const events: AgentEvent[] = [
    { ...text('one'), subagent: 's' } as AgentEvent,
    { type: 'step-started', step, subagent: 's' },
    { type: 'step-ended', step, status: 'failed', subagent: 's' },
    { type: 'subagent-started', subagent: 's', title: 'Helper' },
    { type: 'subagent-stopped', subagent: 's' },
    { type: 'picture', name: 'a.gif', mimeType: 'image/gif', bytes: Buffer.from('GIF89a') },
    { type: 'plan', entries: [] }
  ]
  const tracker = createTurnTracker()
  tracker.begin('go')
  for (const event of events) {
    const { row, ...rest } = tracker.name(event) as AgentEvent & { row?: string }
    t.strictSame(rest, event)
    t.type(row, 'string')
  }
  t.end()
})

t.test('after a replay the whole conversation counts as sent', t => {
  const place = placeAfter('go', [], { before: 0 })
  const past = followReplayFrom(place)
  for (const update of [says('before any prompt'), asked('go'), says('one'), asked('more')]) past.take(update)
  t.equal(past.messages, 2)
  const { events, upTo } = past.end()
  t.strictSame(upTo && readPlace(upTo), { ...place, messages: 2, isEnded: true })
  t.match(events, [
    { type: 'text', text: 'one' },
    { type: 'turn-ended', reason: 'done' },
    { type: 'prompted', text: 'more', isOurs: false, row: `${place.turn} and 0 begins` },
    { type: 'turn-ended', reason: 'done' }
  ])
  t.equal(events.length, 4)
  t.end()
})

t.test('a prompt in pieces is one; one with another id is the next', t => {
  const pieces = (messageId?: string) =>
    [
      { ...asked('go'), messageId },
      { ...asked(' on'), messageId }
    ] as Update[]
  const past = (updates: readonly Update[]) => {
    const past = followReplayFrom(placeAfter('go on', []))
    for (const update of updates) past.take(update)
    return past.messages
  }
  t.equal(past(pieces()), 1)
  t.equal(past([...pieces('a'), ...pieces('b')]), 2)
  t.equal(past([...pieces(), says('one'), ...pieces()]), 2)
  t.end()
})
