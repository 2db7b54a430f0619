import t from 'tap'
import { createPartialReader } from '../../../../lib/client/outbox/partials.ts'
import { envelopeOf } from '../../../../lib/client/sealed/messages.ts'
import {
  type Envelope,
  type MessageBody,
  messageBody,
  type PartialBody,
  type PartialFrame
} from '../../../../lib/protocol/sealed/messages.ts'
import * as v from '../../../../lib/schema.ts'
import type { Step } from '../../../../lib/wrapper/agents/agent.ts'
import { createNarrator } from '../../../../lib/wrapper/session/output/narrator.ts'
import { idOfRow } from '../../../../lib/wrapper/uplink/outbox.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

const step: Step = { call: 'c1', name: 'Write', title: 'Preparing', kind: 'edit', input: {}, locations: [], content: [] }
const written: Step = {
  ...step,
  title: 'Write a.txt',
  input: { file_path: 'a.txt' },
  content: [{ type: 'diff', path: 'a.txt', oldText: null, newText: 'x' }]
}

function story() {
  const kept: MessageBody[] = []
  const partials: PartialBody[] = []
  const reader = createPartialReader(() => t.fail('a device missed something'))
  const sent: PartialFrame[] = []
  const clock = manualClock()
  const link = { isThere: true }
  const narrator = createNarrator({
    put: async body => void kept.push(v.parse(messageBody, body)),
    showPartial(frame) {
      if (!link.isThere) return false
      sent.push(frame)
      const partial = reader.take(frame)
      if (partial) partials.push(partial)
      return true
    },
    clock
  })
  return {
    narrator,
    kept,
    partials,
    sent,
    link,
    clock,
    told: () => kept.flatMap(body => envelopeOf(body)?.ev ?? []),
    envelopes: (): Envelope[] => kept.flatMap(body => envelopeOf(body) ?? [])
  }
}

t.test('a turn is sent from its beginning to "your turn", all under one name', async t => {
  const { narrator, told, kept, envelopes } = story()
  const turn = await narrator.beginTurn()
  await narrator.tell({ type: 'text', block: 'b1', text: 'hm', thinking: true })
  await narrator.tell({ type: 'text', block: 'b2', text: 'hello', thinking: false })
  await narrator.tell({ type: 'plan', entries: [{ content: 'one', status: 'pending' }] })
  await narrator.tell({ type: 'usage', used: 120, size: 200_000 })
  await narrator.tell({ type: 'turn-ended', reason: 'done' })
  t.match(told(), [
    { t: 'turn-start' },
    { t: 'text', text: 'hm', thinking: true },
    { t: 'text', text: 'hello' },
    { t: 'tool-call-start', name: 'TodoWrite', args: { todos: [{ content: 'one', status: 'pending' }] } },
    { t: 'tool-call-end', status: 'completed' },
    { t: 'turn-end', status: 'completed' }
  ])
  t.ok(envelopes().every(envelope => envelope.turn === turn && envelope.role === 'agent'))
  t.match(envelopes().at(-1)?.usage, { input_tokens: 120, context_window: 200_000 })
  t.match(kept.at(-1), { role: 'agent', content: { type: 'event', data: { type: 'ready' } } })
})

t.test('growing text is sent a few times a second, in its latest form, under the id of its stored form', async t => {
  const { narrator, partials, clock, envelopes } = story()
  await narrator.beginTurn()
  for (let n = 1; n <= 50; n++) {
    await narrator.tell({ type: 'text-grew', block: 'b1', text: 'x'.repeat(n), thinking: false })
    clock.advance(10)
  }
  t.ok(partials.length >= 2 && partials.length <= 4, `${partials.length} in half a second`)
  await narrator.tell({ type: 'text', block: 'b1', text: 'x'.repeat(50), thinking: false })
  t.equal(envelopes().at(-1)?.id, partials[0]?.block)
  const shown = partials.length
  clock.advance(1000)
  t.equal(partials.length, shown, 'nothing is shown once it is stored')
})

t.test('half a sentence that is written again is removed on the devices', async t => {
  const { narrator, partials, clock, envelopes } = story()
  await narrator.beginTurn()
  await narrator.tell({ type: 'text-grew', block: 'b1', text: 'half a', thinking: false })
  await narrator.tell({ type: 'retrying', attempt: 1, inMs: 500, why: 'unreachable' })
  await narrator.tell({ type: 'text-grew', block: 'b2', text: 'other', thinking: false })
  clock.advance(1000)
  // Without a word of it, another block begins.
  await narrator.tell({ type: 'text-grew', block: 'b3', text: 'third', thinking: false })
  clock.advance(1000)
  t.match(
    partials.map(({ text }) => text),
    ['half a', '', 'other', '', 'third']
  )
  t.equal(partials[1]?.block, partials[0]?.block)
  t.equal(partials[3]?.block, partials[2]?.block)
  await narrator.tell({ type: 'text', block: 'b3', text: 'third one', thinking: false })
  clock.advance(1000)
  t.equal(partials.length, 5)
  t.match(envelopes().at(-1)?.ev, { t: 'text', text: 'third one' })
})

t.test('a frame that waits is not sent once its text is withdrawn, and nothing is withdrawn that did not grow', async t => {
  const { narrator, partials, clock } = story()
  const turn = await narrator.beginTurn()
  await narrator.tell({ type: 'retrying', attempt: 1, inMs: 500, why: 'unreachable' })
  t.strictSame(partials, [])
  await narrator.tell({ type: 'text-grew', block: 'b1', text: 'half', thinking: true })
  await narrator.tell({ type: 'text-grew', block: 'b1', text: 'half a', thinking: true })
  await narrator.tell({ type: 'retrying', attempt: 2, inMs: 500, why: 'unreachable' })
  clock.advance(1000)
  const block = partials[0]?.block
  t.strictSame(partials, [
    { turn, block, text: 'half', thinking: true },
    { turn, block, text: '', thinking: false }
  ])
})

t.test('text that is withdrawn while offline is removed on the devices after reconnecting', async t => {
  const { narrator, partials, clock, link } = story()
  await narrator.tell({ type: 'text-grew', block: 'b1', text: 'half', thinking: false })
  link.isThere = false
  await narrator.tell({ type: 'retrying', attempt: 1, inMs: 500, why: 'unreachable' })
  link.isThere = true
  clock.advance(1000)
  const [half, gone] = partials
  t.type(half?.turn, 'string', 'also before a turn begins')
  t.match(gone, { ...half, text: '' })
})

t.test('text that was growing when its turn ended grows no more, and is not withdrawn in the next one', async t => {
  const { narrator, partials, clock } = story()
  await narrator.beginTurn()
  for (const text of ['half', 'half a']) await narrator.tell({ type: 'text-grew', block: 'b1', text, thinking: false })
  await narrator.tell({ type: 'turn-ended', reason: 'cancelled' })
  clock.advance(1000)
  await narrator.beginTurn()
  await narrator.tell({ type: 'text-grew', block: 'b2', text: 'other', thinking: false })
  clock.advance(1000)
  t.match(
    partials.map(({ text }) => text),
    ['half', 'other']
  )
})

t.test('of growing text only additions are sent, and all of it when a device starts to watch', async t => {
  const { narrator, sent, clock } = story()
  await narrator.beginTurn()
  const grow = async (text: string) => {
    await narrator.tell({ type: 'text-grew', block: 'b1', text, thinking: false })
    clock.advance(1000)
  }
  await grow('one')
  await grow('one two')
  narrator.showAgain()
  clock.advance(1000)
  await grow('one two three')
  t.match(sent, [{ text: 'one' }, { added: ' two' }, { text: 'one two' }, { added: ' three' }])
  await narrator.tell({ type: 'text', block: 'b1', text: 'one two three', thinking: false })
  narrator.showAgain()
  clock.advance(1000)
  t.equal(sent.length, 4, 'what is stored does not grow')
})

t.test('text that grew while offline is sent in its latest form after reconnecting, unless it is stored by then', async t => {
  const { narrator, partials, clock, link } = story()
  await narrator.beginTurn()
  link.isThere = false
  for (const text of ['o', 'one']) await narrator.tell({ type: 'text-grew', block: 'b1', text, thinking: false })
  clock.advance(1000)
  link.isThere = true
  clock.advance(1000)
  t.match(partials, [{ text: 'one' }])
  t.equal(partials.length, 1, 'and once')
  link.isThere = false
  await narrator.tell({ type: 'text-grew', block: 'b1', text: 'one two', thinking: false })
  clock.advance(1000)
  await narrator.tell({ type: 'text', block: 'b1', text: 'one two', thinking: false })
  link.isThere = true
  clock.advance(1000)
  t.equal(partials.length, 1)
})

t.test('a step is sent once, with its arguments, before its end', async t => {
  const { narrator, told } = story()
  await narrator.beginTurn()
  await narrator.tell({ type: 'step-started', step })
  await narrator.tell({ type: 'step-updated', step: written })
  t.equal(told().length, 1, 'not while the agent still writes them')
  await narrator.showStep(written)
  t.match(told().slice(1), [
    { t: 'tool-call-start', call: 'c1', name: 'Write', title: 'Write a.txt', args: { file_path: 'a.txt' }, content: [{ type: 'diff' }] }
  ])
  await narrator.tell({ type: 'step-updated', step: written })
  await narrator.tell({ type: 'step-ended', step: written, status: 'completed' })
  t.equal(told().length, 3)
})

t.test('the diff of a step is sent again only if it changed, and in full in another turn', async t => {
  const { narrator, told } = story()
  const output = { type: 'text', text: 'done' } as const
  const ends = async (content: Step['content']) => {
    await narrator.tell({ type: 'step-ended', step: { ...written, content }, status: 'completed' })
    const ev = told().at(-1)
    t.match(ev, { call: 'c1', status: 'completed' })
    return ev?.t === 'tool-call-end' ? ev.content : undefined
  }
  const changed = { type: 'diff', path: 'a.txt', oldText: null, newText: 'y' } as const
  await narrator.beginTurn()
  await narrator.tell({ type: 'step-started', step: written })
  await narrator.settle()
  t.strictSame(await ends([...written.content, output]), [output])
  t.strictSame(await ends([changed, output]), [changed, output])
  await narrator.beginTurn()
  t.strictSame(await ends([...written.content, output]), [...written.content, output])
})

t.test('a silent running step is sent after a moment', async t => {
  const { narrator, told, clock } = story()
  await narrator.beginTurn()
  await narrator.tell({ type: 'step-started', step: written })
  clock.advance(1000)
  await Promise.resolve()
  t.match(told().at(-1), { t: 'tool-call-start', call: 'c1' })
})

t.test('a step with continuous output is sent within a second, and so is the next one', async t => {
  const { narrator, told, clock } = story()
  await narrator.beginTurn()
  const toldWhileItPrints = async (call: string) => {
    await narrator.tell({ type: 'step-started', step: { ...written, call } })
    for (let ms = 0; ms < 1200; ms += 300) {
      await narrator.tell({ type: 'step-updated', step: { ...written, call, content: [{ type: 'text', text: `line ${ms}` }] } })
      clock.advance(300)
      await Promise.resolve()
    }
    return told().some(event => event.t === 'tool-call-start' && event.call === call)
  }
  t.ok(await toldWhileItPrints('c1'))
  clock.advance(60_000)
  await narrator.tell({ type: 'step-started', step: { ...step, call: 'c2' } })
  t.notOk(
    told().some(event => event.t === 'tool-call-start' && event.call === 'c2'),
    'a step of its own has all its time'
  )
  clock.advance(300)
  await narrator.tell({ type: 'step-updated', step: { ...written, call: 'c2' } })
  clock.advance(400)
  await Promise.resolve()
  t.match(told().at(-1), { t: 'tool-call-start', call: 'c2', args: { file_path: 'a.txt' } })
  t.ok(await toldWhileItPrints('c3'))
})

t.test('steps stay before the text that follows them', async t => {
  const { narrator, told } = story()
  await narrator.beginTurn()
  await narrator.tell({ type: 'step-started', step: written })
  await narrator.tell({ type: 'text', block: 'b', text: 'meanwhile', thinking: false })
  await narrator.tell({ type: 'turn-ended', reason: 'cancelled' })
  t.match(
    told().map(event => event.t),
    ['turn-start', 'tool-call-start', 'text', 'turn-end']
  )
})

t.test('a text says whether it is thinking, and whether it was cut or stopped', async t => {
  const { narrator, told } = story()
  const text = { type: 'text', block: 'b', text: 'x' } as const
  await narrator.tell({ ...text, thinking: false })
  await narrator.tell({ ...text, thinking: true })
  await narrator.tell({ ...text, thinking: false, isCut: true })
  await narrator.tell({ ...text, thinking: false, isStopped: true })
  t.strictSame(told(), [
    { t: 'text', text: 'x' },
    { t: 'text', text: 'x', thinking: true },
    { t: 'text', text: 'x', cut: true },
    { t: 'text', text: 'x', cut: true }
  ])
})

t.test('a turn starts without the usage and the last text of the one before', async t => {
  const { narrator, told, envelopes } = story()
  await narrator.beginTurn()
  await narrator.tell({ type: 'text', block: 'b', text: 'overloaded', thinking: false })
  await narrator.tell({ type: 'usage', used: 5, size: 10 })
  await narrator.tell({ type: 'turn-ended', reason: 'done' })
  t.strictSame(envelopes().at(-1)?.usage, { input_tokens: 5, output_tokens: 0, context_window: 10 })
  await narrator.beginTurn()
  await narrator.tell({ type: 'turn-ended', reason: 'failed', error: 'overloaded' })
  t.match(told().at(-2), { t: 'service', text: 'overloaded' })
  t.equal(envelopes().at(-1)?.usage, undefined)
})

t.test('a turn is named by its caller, or after the prompt that began it, or anew', async t => {
  const { narrator } = story()
  t.equal(await narrator.beginTurn({ name: 'left open', row: 'r' }), 'left open')
  t.equal(await narrator.beginTurn({ row: 'r' }), idOfRow('turn r'))
  t.not(await narrator.beginTurn(), await narrator.beginTurn())
})

t.test('the reason for a failed turn is shown, unless the agent has just given it', async t => {
  const silent = story()
  await silent.narrator.beginTurn()
  await silent.narrator.tell({ type: 'turn-ended', reason: 'failed', error: 'overloaded' })
  t.match(silent.told(), [{ t: 'turn-start' }, { t: 'service', text: 'overloaded' }, { t: 'turn-end', status: 'failed' }])
  const talking = story()
  await talking.narrator.beginTurn()
  await talking.narrator.tell({ type: 'text', block: 'b', text: 'API Error: 529', thinking: false })
  await talking.narrator.tell({ type: 'turn-ended', reason: 'failed', error: 'Internal error: API Error: 529' })
  t.notOk(talking.told().some(event => event.t === 'service'))
})

t.test("a subagent's work is sent under one name that existing apps accept", async t => {
  const { narrator, envelopes } = story()
  await narrator.beginTurn()
  await narrator.tell({ type: 'subagent-started', subagent: 'toolu_1', title: 'Look around' })
  await narrator.tell({ type: 'step-started', step: written, subagent: 'toolu_1' })
  await narrator.tell({ type: 'text', block: 'b', text: 'found it', thinking: false, subagent: 'toolu_1' })
  await narrator.tell({ type: 'step-ended', step: written, status: 'completed', subagent: 'toolu_1' })
  await narrator.tell({ type: 'subagent-stopped', subagent: 'toolu_1' })
  await narrator.tell({ type: 'text', block: 'c', text: 'thanks', thinking: false })
  const [begin, start, ...rest] = envelopes()
  t.match([begin, start], [{ ev: { t: 'turn-start' } }, { ev: { t: 'start', title: 'Look around' }, subagent: /^[a-z][0-9a-z]{23}$/ }])
  t.strictSame(
    rest.map(({ ev, subagent }) => [ev.t, subagent === start?.subagent]),
    [
      ['tool-call-start', true],
      ['text', true],
      ['tool-call-end', true],
      ['stop', true],
      ['text', false]
    ]
  )
  t.equal(rest.at(-1)?.subagent, undefined)
})

t.test("a file is told as its row, and as one of the helper's when a helper has it", async t => {
  const { narrator, envelopes } = story()
  await narrator.beginTurn()
  await narrator.tell({ type: 'subagent-started', subagent: 's1', title: 'Look around', row: 'r1' })
  const file = { ref: 'f1', name: 'a.png', size: 3, mimeType: 'image/png' }
  await narrator.tell({ type: 'file', file, row: 'r2', subagent: 's1' })
  await narrator.tell({ type: 'file', file, row: 'r3' })
  const [, start, own, other] = envelopes()
  t.type(start?.subagent, 'string')
  t.match([own, other], [{ ev: { t: 'file', ...file }, subagent: start?.subagent }, { ev: { t: 'file', ...file } }])
  t.equal(other?.subagent, undefined)
})

t.test('what has a row in the history is stored under it, a step under that of its beginning', async t => {
  const stored: [string | undefined, string | undefined][] = []
  const narrator = createNarrator({
    put: async (body, localId) => void stored.push([envelopeOf(body)?.ev.t, localId]),
    showPartial: () => true
  })
  await narrator.beginTurn()
  stored.length = 0
  await narrator.tell({ type: 'subagent-started', subagent: 's', title: undefined, row: 'r1' })
  await narrator.tell({ type: 'step-started', step, row: 'r2' })
  await narrator.tell({ type: 'step-updated', step: written })
  await narrator.tell({ type: 'step-ended', step: written, status: 'completed', row: 'r3' })
  await narrator.tell({ type: 'text', block: 'b', text: 'x', thinking: false, row: 'r4' })
  await narrator.tell({ type: 'file', file: { ref: 'f', name: 'a.png', size: 3, mimeType: 'image/png' }, row: 'r5' })
  await narrator.tell({ type: 'plan', entries: [], row: 'r6' })
  await narrator.tell({ type: 'subagent-stopped', subagent: 's', row: 'r7' })
  t.strictSame(stored, [
    ['start', idOfRow('r1')],
    ['tool-call-start', idOfRow('r2')],
    ['tool-call-end', idOfRow('r3')],
    ['text', idOfRow('r4')],
    ['file', idOfRow('r5')],
    ['tool-call-start', idOfRow('r6')],
    ['tool-call-end', idOfRow('r6 ends')],
    ['stop', idOfRow('r7')]
  ])
})

t.test('steps held back are stored one after the other before what follows them, as they were last', async t => {
  const following = [
    { type: 'text', block: 'b', text: 'x', thinking: false },
    { type: 'subagent-started', subagent: 's', title: undefined },
    { type: 'subagent-stopped', subagent: 's' },
    { type: 'turn-ended', reason: 'done' }
  ] as const
  for (const event of following) {
    const stored: unknown[] = []
    const put = async (body: MessageBody) => {
      const ev = envelopeOf(body)?.ev
      if (ev?.t !== 'tool-call-end') await new Promise(resolve => setImmediate(resolve))
      stored.push(ev?.t === 'tool-call-start' ? ev.title : ev?.t)
    }
    const narrator = createNarrator({ put, showPartial: () => true })
    await narrator.beginTurn()
    await narrator.tell({ type: 'step-started', step })
    await narrator.tell({ type: 'step-started', step: { ...step, call: 'c2', title: 'Second' } })
    t.strictSame(stored, ['turn-start'])
    await narrator.tell(event)
    t.strictSame(stored.slice(1, 3), ['Preparing', 'Second'], event.type)
    stored.length = 0
    await narrator.tell({ type: 'step-started', step })
    await narrator.tell({ type: 'step-ended', step: written, status: 'completed' })
    t.strictSame(stored, ['Write a.txt', 'tool-call-end'])
    stored.length = 0
    await narrator.tell({ type: 'plan', entries: [] })
    t.strictSame(stored.slice(1), ['tool-call-end'])
    stored.length = 0
    await narrator.tell({ type: 'step-started', step })
    await narrator.tell({ type: 'step-updated', step: written })
    await narrator.settle()
    t.strictSame(stored, ['Write a.txt'])
    stored.length = 0
    await narrator.tell({ type: 'step-started', step })
    await narrator.showStep(written)
    t.strictSame(stored, ['Write a.txt'], 'with what is asked about it')
  }
})

t.test('notices, sentences of Afield and steps are told in full', async t => {
  const { narrator, told } = story()
  await narrator.tell({ type: 'notice', text: 'no such mode' })
  await narrator.say('from Afield')
  await narrator.tell({ type: 'step-started', step: { ...written, locations: ['a.txt', 'b.txt'] } })
  await narrator.settle()
  await narrator.tell({ type: 'step-started', step: { ...step, call: 'c2' } })
  await narrator.settle()
  const [last] = told().slice(-1)
  t.match(last, { description: 'Preparing' }, 'its title, as it has no place')
  t.strictSame(told().slice(0, -1), [
    { t: 'service', text: 'no such mode' },
    { t: 'service', text: 'from Afield' },
    {
      t: 'tool-call-start',
      call: 'c1',
      name: 'Write',
      title: 'Write a.txt',
      description: 'a.txt, b.txt',
      args: { file_path: 'a.txt' },
      kind: 'edit',
      locations: ['a.txt', 'b.txt'],
      content: written.content
    }
  ])
})

t.test('why a turn failed is told unless it was the last text, and "your turn" follows its stored end', async t => {
  for (const [text, isTold] of [
    [undefined, true],
    ['half', true],
    [' overloaded\n', false]
  ] as const) {
    const stored: unknown[] = []
    const put = async (body: MessageBody) => {
      await new Promise(resolve => setImmediate(resolve))
      const ev = envelopeOf(body)?.ev
      if (ev?.t === 'turn-end') await new Promise(resolve => setImmediate(resolve))
      stored.push(ev === undefined ? 'ready' : ev.t === 'service' ? ev.text : ev.t)
    }
    const narrator = createNarrator({ put, showPartial: () => true })
    await narrator.beginTurn()
    if (text !== undefined) await narrator.tell({ type: 'text', block: 'b', text, thinking: false })
    stored.length = 0
    await narrator.tell({ type: 'turn-ended', reason: 'failed', error: 'API: overloaded' })
    t.strictSame(stored, [...(isTold ? ['API: overloaded'] : []), 'turn-end', 'ready'], `${text}`)
  }
})

t.test('a stored text is not removed on the devices when another begins to grow', async t => {
  const { narrator, partials, clock } = story()
  await narrator.beginTurn()
  await narrator.tell({ type: 'text-grew', block: 'b1', text: 'one', thinking: false })
  await narrator.tell({ type: 'text', block: 'b1', text: 'one', thinking: false })
  await narrator.tell({ type: 'text-grew', block: 'b2', text: 'two', thinking: false })
  clock.advance(1000)
  t.strictSame(
    partials.map(({ text }) => text),
    ['one', 'two']
  )
})

t.test('the cost of the conversation is sent at the end of a turn', async t => {
  const { narrator, envelopes } = story()
  await narrator.beginTurn()
  await narrator.tell({ type: 'usage', used: 5, size: 10, cost: { amount: 0.25, currency: 'USD' } })
  await narrator.tell({ type: 'turn-ended', reason: 'done' })
  t.match(envelopes().at(-1)?.usage, { cost: { amount: 0.25, currency: 'USD' } })
})

t.test('a turn sent again has the same names, and repeated text within it has two [X1]', async t => {
  const names: (string | undefined)[] = []
  const tellTurn = async (turn: string, space = ' ') => {
    const narrator = createNarrator({ put: async (_, localId) => void names.push(localId), showPartial: () => true })
    await narrator.beginTurn({ name: turn })
    for (const block of ['b1', 'b2'])
      await narrator.tell({ type: 'text', block: block + names.length, text: `once${space}again`, thinking: false })
    await narrator.tell({ type: 'step-started', step })
    await narrator.tell({ type: 'step-ended', step, status: 'completed' })
    await narrator.tell({ type: 'plan', entries: [{ content: 'one', status: 'pending' }] })
    await narrator.tell({ type: 'turn-ended', reason: 'failed', error: 'overloaded' })
    return names.splice(0)
  }
  const once = await tellTurn('one turn')
  t.strictSame(await tellTurn('one turn'), once)
  t.strictSame(await tellTurn('one turn', '\n'), once, 'recorded with other space between its words')
  t.equal(new Set(once).size, once.length)
  t.notOk(once.includes(undefined))
  const another = await tellTurn('another turn')
  t.notOk(another.some(name => once.includes(name)))
})
