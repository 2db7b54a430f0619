import t from 'tap'
import {
  createTurnTracker,
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
  t.match(again, { type: 'text', text: '[picture.gif]' })
  t.ok(again && shown && 'row' in again && 'row' in shown && again.row !== undefined && again.row === shown.row)
  t.end()
})

t.test('a cursor is read as it was stored, and no other kind of cursor is accepted as one', t => {
  const place = placeAfter('go', [text('one')])
  t.strictSame(readPlace(placeOf(place)), place)
  for (const file of ['codex:thread/turn/end', '/home/me/a.jsonl', 'acp:{', 'acp:{}'])
    t.equal(readPlace({ file, offset: 0 }), undefined, file)
  t.end()
})
