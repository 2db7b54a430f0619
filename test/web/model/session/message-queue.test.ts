import t from 'tap'
import { messageBody, type SessionEvent } from '../../../../lib/protocol/sealed/messages.ts'
import * as v from '../../../../lib/schema.ts'
import { queueOf } from '../../../../web/model/session/message-queue.ts'
import type { KnownMessage } from '../../../../web/model/transcript/message.ts'
import { addMessages, emptyTranscript } from '../../../../web/model/transcript/transcript.ts'
import { commandsLike, filesLike, tokenAt } from '../../../../web/session/composer/suggestion-matches.ts'

const at = 1_700_000_000_000
const body = (value: unknown) => v.parse(messageBody, value)
const mine = (seq: number, text: string, meta: object = {}): KnownMessage => ({
  seq,
  localId: `local${seq}`,
  at: at + seq,
  body: body({ role: 'user', content: { type: 'text', text }, meta: { sentFrom: 'web', ...meta } })
})
const told = (seq: number, ev: SessionEvent, role: 'user' | 'agent' = 'user'): KnownMessage => {
  const envelope = { id: `e${seq}`, time: at + seq, role, ...(role === 'agent' && { turn: 'now' }), ev }
  return { seq, localId: null, at: at + seq, body: body({ role: 'session', content: { type: 'session', data: envelope } }) }
}
const file = (seq: number, name: string) => told(seq, { t: 'file', ref: `r${seq}`, name, size: 9 })
const turn = (seq: number) => told(seq, { t: 'turn-start' }, 'agent')

const queue = (messages: KnownMessage[], facts: { readSeq: number; hasReceipts: boolean }, more: object = {}) =>
  queueOf({
    transcript: addMessages(emptyTranscript, messages),
    waiting: [],
    takenBack: new Set<string>(),
    moves: [],
    facts: { deliveredSeq: 0, ...facts },
    ...more
  }).map(({ text }) => text)

t.test('messages the agent has not read wait, also past the end of a turn; steering ones do not', t => {
  const messages = [mine(1, 'begin'), turn(2), mine(3, 'one'), mine(4, 'now', { steer: true }), mine(5, 'two')]
  t.strictSame(queue(messages, { readSeq: 1, hasReceipts: true }), ['one', 'two'])
  t.strictSame(queue([...messages, turn(6)], { readSeq: 4, hasReceipts: true }), ['two'])
  const waiting = [
    { localId: 'x', text: 'here', at, state: 'device' as const },
    { localId: 'y', text: 'refused', at, state: 'failed' as const }
  ]
  t.strictSame(queue(messages, { readSeq: 4, hasReceipts: true }, { waiting }), ['two', 'here'])
  t.strictSame(queue(messages, { readSeq: 1, hasReceipts: true }, { takenBack: new Set(['local3']) }), ['two'])
  t.end()
})

t.test('an edited or moved message keeps one place in the queue and in the transcript, in any order of updates', t => {
  const messages = [
    mine(1, 'begin'),
    turn(2),
    mine(3, 'one'),
    mine(4, 'two'),
    told(5, { t: 'text', text: 'Still at it.' }, 'agent'),
    mine(6, 'three'),
    mine(7, 'TWO', { replaces: 'local4' }),
    told(8, { t: 'move', localId: 'local6', before: 'local4' }),
    told(9, { t: 'move', localId: 'local4', before: 'local3' })
  ]
  t.strictSame(queue(messages, { readSeq: 1, hasReceipts: true }), ['TWO', 'one', 'three'])
  for (const heard of [messages, messages.toReversed()]) {
    const { items } = heard.reduce((transcript, message) => addMessages(transcript, [message]), emptyTranscript)
    t.strictSame(
      items.map(item => ('text' in item ? item.text : item.type)),
      ['begin', 'TWO', 'one', 'Still at it.', 'three']
    )
    t.strictSame(
      items.map(item => item.seq),
      [1, 3, 4, 5, 6],
      'the places stay where they are'
    )
    t.match(items[1], { own: { seq: 4, at: at + 4 }, localId: 'local4' })
  }
  const read = [...messages, told(10, { t: 'read', localId: 'local4' }, 'agent')]
  t.strictSame(queue(read, { readSeq: 1, hasReceipts: true }), ['one', 'three'], 'it was read before the earlier ones')
  t.end()
})

t.test('messages sent during a turn are shown where the turn they started begins, below the reply being written', t => {
  const say = (seq: number, text: string, turn: string) => {
    const envelope = { id: `e${seq}`, time: at + seq, role: 'agent', turn, ev: { t: 'text', text } }
    return { seq, localId: null, at: at + seq, body: body({ role: 'session', content: { type: 'session', data: envelope } }) }
  }
  const of = (seq: number, ev: SessionEvent, turn: string): KnownMessage => {
    const envelope = { id: `e${seq}`, time: at + seq, role: 'agent', turn, ev }
    return { seq, localId: null, at: at + seq, body: body({ role: 'session', content: { type: 'session', data: envelope } }) }
  }
  const start = (seq: number, turn: string) => of(seq, { t: 'turn-start' }, turn)
  const end = (seq: number, turn: string) => of(seq, { t: 'turn-end', status: 'completed' }, turn)
  const texts = (messages: KnownMessage[]) =>
    addMessages(emptyTranscript, messages).items.map(item => ('text' in item ? item.text : item.type))

  const first = [mine(1, 'begin'), start(2, 'a'), mine(3, 'one'), mine(4, 'two'), say(5, 'Begun.', 'a'), end(6, 'a')]
  const second = [start(7, 'b'), say(8, 'One done.', 'b'), end(9, 'b')]
  const third = [start(10, 'c'), say(11, 'Two done.', 'c'), end(12, 'c')]
  const all = [...first, ...second, ...third]
  t.strictSame(texts(all), ['begin', 'Begun.', 'one', 'One done.', 'two', 'Two done.'])
  const oneByOne = all.toReversed().reduce((transcript, message) => addMessages(transcript, [message]), emptyTranscript)
  t.strictSame(oneByOne.items, addMessages(emptyTranscript, all).items, 'in any order of arrival')
  t.match(oneByOne.items[2], { localId: 'local3', seq: 7, own: { seq: 3 } }, 'and its delivery status follows its own number')

  const ahead = [...first, start(7, 'b'), of(8, { t: 'read', localId: 'local4' }, 'b'), say(9, 'Two done.', 'b'), end(10, 'b')]
  const behind = [...ahead, start(11, 'c'), say(12, 'One done.', 'c'), end(13, 'c')]
  t.strictSame(texts(behind), ['begin', 'Begun.', 'two', 'Two done.', 'one', 'One done.'], 'the one that was brought forward came first')

  const atTerminal = [...first, mine(7, 'typed', { sentFrom: 'cli' }), start(8, 'b'), say(9, 'Typed done.', 'b'), end(10, 'b')]
  const after = [...atTerminal, start(11, 'c'), say(12, 'One done.', 'c')]
  t.strictSame(texts(after).indexOf('typed') < texts(after).indexOf('Typed done.'), true)

  const together = [
    ...first,
    start(7, 'b'),
    say(8, 'Both done.', 'b'),
    end(9, 'b'),
    mine(10, 'next'),
    start(11, 'c'),
    say(12, 'Done.', 'c')
  ]
  t.strictSame(
    texts(together),
    ['begin', 'Begun.', 'one', 'two', 'Both done.', 'next', 'Done.'],
    'an agent that takes all at once took both'
  )
  t.end()
})

t.test('an edit that came too late becomes its own message, and a withdrawal that came too late counts as read', t => {
  const messages = [mine(1, 'begin'), turn(2), mine(3, 'one'), mine(4, 'ONE', { replaces: 'local3' }), mine(5, 'two')]
  const apart = [...messages, told(6, { t: 'apart', localId: 'local4' }, 'agent')]
  const { items } = addMessages(emptyTranscript, apart)
  t.match(items, [
    { text: 'begin' },
    { text: 'one', localId: 'local3' },
    { text: 'two' },
    { text: 'ONE', localId: 'local4', seq: 6, own: { seq: 4 } }
  ])
  const withdrawn = [mine(1, 'one'), told(2, { t: 'withdraw', localId: 'local1' }), mine(3, 'ONE', { replaces: 'local1' })]
  t.match(addMessages(emptyTranscript, withdrawn).items, [{ text: 'one', isWithdrawn: true }, { text: 'ONE' }])
  const late = [...withdrawn, told(4, { t: 'read', localId: 'local1' }, 'agent')]
  t.match(addMessages(emptyTranscript, late).items, [{ text: 'one', isWithdrawn: false, isRead: true }, { text: 'ONE' }])
  t.match(
    addMessages(emptyTranscript, [...messages, told(6, { t: 'apart', localId: 'local4' })]).items,
    [{}, { text: 'ONE' }, {}],
    'only agents say so'
  )
  t.end()
})

t.test('a message edited here but not yet sent is in the queue as it will be, with the status of each', t => {
  const messages = [mine(1, 'begin'), turn(2), mine(3, 'one'), mine(4, 'two')]
  const shown = queueOf({
    transcript: addMessages(emptyTranscript, messages),
    waiting: [
      { localId: 'x', text: 'here', at, state: 'device' },
      { localId: 'y', text: 'ONE', at, state: 'device', replaces: 'local3' }
    ],
    takenBack: new Set(),
    moves: [{ localId: 'x', before: 'local3' }],
    facts: { readSeq: 1, deliveredSeq: 3, hasReceipts: true }
  })
  t.match(shown, [
    { localId: 'x', text: 'here', isHere: true },
    { localId: 'local3', text: 'ONE', isHere: true, isThere: false },
    { localId: 'local4', text: 'two', isHere: false, isThere: false }
  ])
  t.equal(shown.length, 3)
  t.end()
})

t.test('an unsent message waits with its files, an edit of a sent one in its place, and moves only go forward', t => {
  const messages = [mine(1, 'begin'), turn(2), mine(3, 'one'), mine(4, 'two'), mine(5, 'three')]
  const tree = { ref: 'r', name: 'tree.png', size: 3 }
  const given = (more: Partial<Parameters<typeof queueOf>[0]> = {}) =>
    queueOf({
      ...{ transcript: addMessages(emptyTranscript, messages), waiting: [], takenBack: new Set(), moves: [] },
      ...{ facts: { readSeq: 1, deliveredSeq: 3, hasReceipts: true }, ...more }
    })
  const waiting = [
    { localId: 'x', text: 'here', at, state: 'device' as const, files: [tree] },
    { localId: 'y', text: 'now', at, state: 'device' as const, isSteer: true },
    { localId: 'z', text: 'TWO', at, state: 'device' as const, replaces: 'local4' },
    { localId: 'v', text: 'ONE', at, state: 'device' as const, replaces: 'local3', isSteer: true },
    { localId: 'w', text: 'lost', at, state: 'device' as const, replaces: 'gone' }
  ]
  const stored = { files: [], isHere: false, isSteer: false }
  const unsent = { files: [], isHere: true, isSteer: false, isThere: false }
  t.strictSame(given({ waiting }), [
    { ...unsent, localId: 'local4', text: 'TWO' },
    { ...stored, localId: 'local5', text: 'three', isThere: false },
    { ...unsent, localId: 'x', text: 'here', files: [tree] }
  ])
  t.strictSame(given()[0], { ...stored, localId: 'local3', text: 'one', isThere: true })
  const moved = (...moves: [string, string][]) =>
    given({ moves: moves.map(([localId, before]) => ({ localId, before })) }).map(({ text }) => text)
  t.strictSame(moved(['local4', 'local3']), ['two', 'one', 'three'])
  t.strictSame(moved(['local5', 'local3'], ['local4', 'local3']), ['three', 'two', 'one'])
  t.strictSame(moved(['local3', 'local5']), ['one', 'two', 'three'], 'not back')
  t.strictSame(moved(['gone', 'local3'], ['local5', 'gone'], ['local4', 'local4']), ['one', 'two', 'three'])
  t.end()
})

t.test('without receipts, messages sent during the turn wait for its end', t => {
  const messages = [mine(1, 'begin'), turn(2), mine(3, 'one')]
  t.strictSame(queue(messages, { readSeq: 0, hasReceipts: false }), ['one'])
  t.strictSame(queue(messages.slice(0, 1), { readSeq: 0, hasReceipts: false }), [], 'and none do while it is idle')
  t.end()
})

t.test('a withdrawn message says so and no longer waits, in any order of updates', t => {
  const messages = [mine(1, 'begin'), turn(2), mine(3, 'one'), told(4, { t: 'withdraw', localId: 'local3' })]
  t.strictSame(queue(messages, { readSeq: 1, hasReceipts: true }), [])
  for (const heard of [messages, messages.toReversed()]) {
    const { items } = heard.reduce((transcript, message) => addMessages(transcript, [message]), emptyTranscript)
    t.match(items, [
      { text: 'begin', isWithdrawn: false },
      { text: 'one', isWithdrawn: true }
    ])
  }
  const byAgent = addMessages(emptyTranscript, [mine(1, 'begin'), told(2, { t: 'withdraw', localId: 'local1' }, 'agent')])
  t.match(byAgent.items, [{ isWithdrawn: false }], 'only people take back')
  t.end()
})

t.test("files belong to the person's next text, also with agent messages in between", t => {
  const between = told(2, { t: 'text', text: 'Still at it.' }, 'agent')
  const { items } = addMessages(emptyTranscript, [file(1, 'a.png'), between, file(3, 'b.png'), mine(4, 'look'), mine(5, 'and go')])
  t.strictSame(
    items.flatMap(item => (item.type === 'mine' ? [item.files.map(({ name }) => name)] : [])),
    [['a.png', 'b.png'], []]
  )
  t.end()
})

t.test('a leading slash suggests commands, an @ at the start of a word files', t => {
  t.strictSame(tokenAt('/pl'), { kind: 'command', query: 'pl' })
  t.strictSame(tokenAt('see @src/a'), { kind: 'file', query: 'src/a' })
  for (const text of ['and /pl', '/plan it', 'me@home', 'plain', '@src done']) t.equal(tokenAt(text), undefined, text)
  t.strictSame(commandsLike(['review', 'preview', 'plan'], 're'), ['review', 'preview'])
  t.strictSame(filesLike(['README.md', 'src/callback.js'], 'Callback.j'), ['src/callback.js'])
  t.end()
})
