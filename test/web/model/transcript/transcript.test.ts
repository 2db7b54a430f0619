import fc from 'fast-check'
import t from 'tap'
import { messageBody, type SessionEvent } from '../../../../lib/protocol/sealed/messages.ts'
import * as v from '../../../../lib/schema.ts'
import { blocksOf } from '../../../../web/model/transcript/blocks.ts'
import type { Item } from '../../../../web/model/transcript/items.ts'
import type { KnownMessage } from '../../../../web/model/transcript/message.ts'
import { itemsOfSubagent } from '../../../../web/model/transcript/subagent.ts'
import { addMessages, addPartial, emptyTranscript, type Transcript } from '../../../../web/model/transcript/transcript.ts'

const minute = 60_000
const start = Date.UTC(2026, 4, 14, 12, 0)

function opened(seq: number, body: unknown, localId: string | null = null): KnownMessage {
  return { seq, localId, at: start + seq * 1000, body: v.parse(messageBody, body) }
}

function mine(seq: number, text: string, localId: string | null = `local${seq}`): KnownMessage {
  return opened(seq, { role: 'user', content: { type: 'text', text } }, localId)
}

function told(seq: number, ev: SessionEvent, more: { turn?: string; id?: string; subagent?: string; usage?: unknown } = {}): KnownMessage {
  const envelope = { id: `e${seq}`, time: start + seq * 1000, role: 'agent', turn: 't1', ...more, ev }
  return opened(seq, { role: 'session', content: envelope })
}

function call(seq: number, name: string, kind: 'read' | 'execute' | 'edit', args: Record<string, unknown> = {}): KnownMessage {
  return told(seq, { t: 'tool-call-start', call: `c${seq}`, name, title: name, description: '', args, kind })
}

function ended(seq: number, of: number, status?: 'completed' | 'failed'): KnownMessage {
  return told(seq, { t: 'tool-call-end', call: `c${of}`, ...(status === undefined ? {} : { status }) })
}

function from(...messages: KnownMessage[]): Transcript {
  return addMessages(emptyTranscript, messages)
}

function types(transcript: Transcript): string[] {
  return transcript.items.map(item => item.type)
}

function step(transcript: Transcript): Extract<Item, { type: 'step' }> {
  const found = transcript.items.find(item => item.type === 'step')
  if (found === undefined) throw new Error('no step')
  return found
}

t.test('feedback added to a decision is not shown as typed at the terminal, although the wrapper sent it', async t => {
  const sent = (seq: number, meta: object) => opened(seq, { role: 'user', content: { type: 'text', text: 'no' }, meta })
  const { items } = from(sent(1, { sentFrom: 'web' }), sent(2, { sentFrom: 'cli' }), sent(3, { sentFrom: 'cli', isReason: true }))
  t.match(items, [{ from: 'app' }, { from: 'terminal' }, { from: 'decision' }])
})

t.test('a turn is parsed into text, steps and their ends', async t => {
  const transcript = from(
    mine(1, 'fix it'),
    told(2, { t: 'turn-start' }),
    told(3, { t: 'text', text: 'I look.' }),
    call(4, 'Bash', 'execute', { command: 'npm test' }),
    ended(5, 4, 'completed')
  )
  t.same(types(transcript), ['mine', 'prose', 'step'])
  t.equal(step(transcript).state, 'ok')
  t.equal(step(transcript).endedAt, start + 5000)
  t.equal(transcript.turn?.id, 't1')
  t.equal(addMessages(transcript, [told(6, { t: 'turn-end', status: 'completed' })]).turn, undefined)
})

t.test('an envelope wrapped by an app is parsed like a bare one', async t => {
  const bare = { id: 'e1', time: start, role: 'agent', turn: 't1', ev: { t: 'text', text: 'hello' } }
  const wrapped = opened(1, { role: 'session', content: { type: 'session', data: bare } })
  t.same(from(wrapped).items, from(opened(1, { role: 'session', content: bare })).items)
})

t.test('only a truncated text is marked as such', async t => {
  const transcript = from(told(1, { t: 'text', text: 'I will', cut: true }), told(2, { t: 'text', text: 'I will do it.' }))
  t.match(transcript.items, [{ type: 'prose', text: 'I will', isCut: true }, { type: 'prose' }])
  t.notOk(transcript.items[1] && 'isCut' in transcript.items[1])
})

t.test('a text that a person stopped is not shown as unfinished by the agent', t => {
  const cut = told(1, { t: 'text', text: 'I will', cut: true })
  const stopped = from(cut, told(2, { t: 'turn-end', status: 'cancelled' }))
  t.same(types(stopped), ['prose', 'turn-ended'])
  t.notOk(stopped.items[0] && 'isCut' in stopped.items[0])
  const failed = from(cut, told(2, { t: 'turn-end', status: 'failed' }))
  t.match(failed.items[0], { isCut: true })
  t.end()
})

t.test('a side note neither starts nor ends a turn', t => {
  const alone = from(told(1, { t: 'service', text: 'Codex 0.200 is newer than tested.' }, { turn: 't0' }))
  t.equal(alone.turn, undefined)
  const within = addMessages(alone, [told(2, { t: 'text', text: 'I look.' }), told(3, { t: 'service', text: 'Codex reviews it.' })])
  t.equal(within.turn?.id, 't1')
  t.same(types(within), ['note', 'prose', 'note'])
  t.end()
})

t.test('steps still running when the turn is cancelled count as stopped', async t => {
  const transcript = from(call(1, 'Bash', 'execute'), told(2, { t: 'turn-end', status: 'cancelled' }))
  t.equal(step(transcript).state, 'stopped')
  t.same(types(transcript), ['step', 'turn-ended'])
})

t.test('an end without a status claims no success', async t => {
  t.equal(step(from(call(1, 'Bash', 'execute'), ended(2, 1))).state, 'done')
})

t.test('a repeated call keeps its place and is updated', async t => {
  const transcript = from(call(1, 'Write', 'edit'), told(2, { t: 'text', text: 'x' }), {
    ...told(3, {
      t: 'tool-call-start',
      call: 'c1',
      name: 'Write',
      title: 'Write one.txt',
      description: '',
      args: { path: 'one.txt' },
      kind: 'edit'
    })
  })
  t.same(types(transcript), ['step', 'prose'])
  t.equal(step(transcript).title, 'Write one.txt')
  t.equal(step(transcript).at, start + 1000)
})

t.test('the plan appears once per turn, in its latest form', async t => {
  const transcript = from(
    told(1, { t: 'plan', entries: [{ content: 'a', status: 'pending' }] }),
    told(2, { t: 'plan', entries: [{ content: 'a', status: 'completed' }] })
  )
  t.same(types(transcript), ['plan'])
  t.equal(transcript.plan?.[0]?.status, 'completed')
})

t.test('a completed plan is not shown in the next turn, and an unfinished one continues', async t => {
  const planned = (status: 'completed' | 'pending') => [
    told(1, { t: 'turn-start' }),
    told(2, {
      t: 'plan',
      entries: [
        { content: 'a', status: 'completed' },
        { content: 'b', status }
      ]
    }),
    told(3, { t: 'turn-end', status: 'completed' })
  ]
  t.equal(from(...planned('completed')).plan?.length, 2)
  t.equal(from(...planned('completed'), told(4, { t: 'turn-start' }, { turn: 'next' })).plan, undefined)
  t.equal(from(...planned('pending'), told(4, { t: 'turn-start' }, { turn: 'next' })).plan?.length, 2)
})

t.test('a to-do tool of an older wrapper is shown as a plan', async t => {
  const todos = [{ content: 'a', status: 'in_progress', activeForm: 'doing a' }]
  const output = opened(1, {
    role: 'agent',
    content: {
      type: 'output',
      data: { type: 'assistant', message: { content: [{ type: 'tool_use', id: 'x', name: 'TodoWrite', input: { todos } }] } }
    }
  })
  t.same(types(from(output)), ['plan'])
})

t.test('a to-do call that is told again with its entries still ends', async t => {
  const todo = (seq: number, args: Record<string, unknown>) =>
    told(seq, { t: 'tool-call-start', call: 'c1', name: 'TodoWrite', title: '', description: '', args })
  const transcript = from(todo(1, {}), todo(2, { todos: [{ content: 'a', status: 'pending' }] }), ended(3, 1, 'completed'))
  t.same(types(transcript), ['step', 'plan'])
  t.equal(step(transcript).state, 'ok')
})

t.test('the four older message families are parsed leniently', async t => {
  const agent = (seq: number, content: unknown): KnownMessage => opened(seq, { role: 'agent', content })
  const transcript = from(
    agent(1, {
      type: 'output',
      data: {
        type: 'assistant',
        uuid: 'u',
        message: {
          role: 'assistant',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'tool_use', id: 'x1', name: 'Edit', input: { file_path: 'a.ts', old_string: 'a', new_string: 'b' } }
          ]
        }
      }
    }),
    agent(2, { type: 'output', data: { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'x1', content: 'ok' }] } } }),
    agent(3, {
      type: 'codex',
      data: { type: 'tool-call', callId: 'x2', name: 'CodexBash', input: { command: ['bash', '-lc', 'ls -a'] }, id: '1' }
    }),
    agent(4, { type: 'codex', data: { type: 'tool-call-result', callId: 'x2', output: { output: 'a b' }, id: '2' } }),
    agent(5, { type: 'acp', provider: 'gemini', data: { type: 'message', message: 'done' } }),
    agent(6, { type: 'acp', provider: 'gemini', data: { type: 'never heard of' } }),
    agent(7, { type: 'event', data: { type: 'ready' } })
  )
  t.same(types(transcript), ['prose', 'step', 'step', 'prose'])
  t.match(transcript.items[1], {
    kind: 'edit',
    state: 'ok',
    content: [
      { type: 'diff', path: 'a.ts', oldText: 'a', newText: 'b' },
      { type: 'text', text: 'ok' }
    ]
  })
  t.match(transcript.items[2], { kind: 'execute', state: 'ok', content: [{ type: 'text', text: 'a b' }] })
  t.equal(transcript.turn, undefined)
})

t.test('messages that cannot be decrypted are counted, not hidden', async t => {
  const closed = (seq: number): KnownMessage => ({ seq, localId: null, at: start, body: undefined, closed: 'unreadable' })
  t.match(from(closed(1), closed(2), mine(3, 'x')).items, [{ type: 'skipped', count: 2 }, { type: 'mine' }])
  t.same(types(addMessages(from(closed(1)), [mine(1, 'opened after all')])), ['mine'])
})

t.test('a subagent is one step, whatever it does', async t => {
  const sub = { subagent: 's1' }
  const transcript = from(
    told(1, { t: 'start', title: 'trace the cookie' }, sub),
    told(2, { t: 'tool-call-start', call: 'i1', name: 'Read', title: 'Read a.ts', description: '', args: {} }, sub),
    told(3, { t: 'text', text: 'inner words' }, sub),
    told(4, { t: 'stop' }, sub)
  )
  t.match(transcript.items, [{ type: 'step', kind: 'agent', title: 'trace the cookie', state: 'ok', inner: { steps: 1 } }])
})

t.test('the step of a subagent shows the latest three of its steps, and counts all', async t => {
  const titles = ['one', 'two', 'three', 'four', 'five']
  const steps = titles.map((title, index) =>
    told(index + 2, { t: 'tool-call-start', call: title, name: 'Read', title, description: '', args: {} }, { subagent: 's1' })
  )
  const transcript = from(told(1, { t: 'start', title: 'look' }, { subagent: 's1' }), ...steps)
  t.match(transcript.items, [{ inner: { steps: 5, last: ['three', 'four', 'five'] } }])
})

t.test('a subagent has its own transcript, without concurrent work of others, and nothing in it still runs once it has ended', async t => {
  const sub = { subagent: 's1' }
  const start = (call: string) => ({
    t: 'tool-call-start' as const,
    call,
    name: 'Read',
    title: `Read ${call}`,
    description: '',
    args: {}
  })
  const transcript = from(
    told(1, { t: 'start', title: 'trace the cookie' }, sub),
    told(2, start('i1'), sub),
    told(3, start('o1')),
    told(4, start('x1'), { subagent: 's2' }),
    told(5, { t: 'tool-call-end', call: 'i1', status: 'failed' }, sub),
    told(6, { t: 'text', text: 'inner words' }, sub),
    told(7, start('i2'), sub)
  )
  const inner = (of: Transcript) => itemsOfSubagent(of.messages, 's1', step(of))
  t.match(inner(transcript), [
    { type: 'step', call: 'i1', state: 'failed' },
    { type: 'prose', text: 'inner words' },
    { type: 'step', call: 'i2', state: 'running' }
  ])
  const ended = inner(addMessages(transcript, [told(8, { t: 'stop' }, sub)]))
  t.equal(ended.length, 3)
  t.match(ended[2], { call: 'i2', state: 'done' })
})

t.test('a growing block is replaced by its stored text', async t => {
  const partial = { turn: 't1', block: 'e3', text: 'I lo', thinking: false, at: start }
  const growing = addPartial(from(told(2, { t: 'turn-start' })), partial)
  t.equal(growing.partials.length, 1)
  const stored = addMessages(growing, [told(3, { t: 'text', text: 'I look.' })])
  t.same(stored.partials, [])
  t.same(addPartial(stored, { ...partial, text: 'I loo' }).partials, [], 'a late partial changes nothing')
  t.equal(addPartial(stored, { ...partial, block: 'e4', text: 'Next' }).partials.length, 1)
  t.same(
    addMessages(addPartial(stored, { ...partial, block: 'e4', text: 'Next' }), [told(5, { t: 'turn-end', status: 'cancelled' })]).partials,
    []
  )
})

t.test('three or more read-only steps collapse into one row', async t => {
  const reads = [1, 3, 5].flatMap(seq => [call(seq, 'Read', 'read'), ended(seq + 1, seq, 'completed')])
  const [, trail] = blocksOf(from(...reads).items)
  t.match(trail, { type: 'trail', rows: [{ type: 'looked', steps: 3, tookMs: 5000 }] })
  const [, short] = blocksOf(from(...reads.slice(0, 4)).items)
  t.match(short, { type: 'trail', rows: [{ type: 'step' }, { type: 'step' }] })
  const [, running] = blocksOf(from(...reads, call(7, 'Read', 'read')).items)
  t.match(running, { rows: [{ type: 'looked' }, { type: 'step', state: 'running' }] })
})

t.test('a step that a person answered is not collapsed, one that a rule allowed is', async t => {
  const reads = [1, 3, 5, 7, 9].flatMap(seq => [call(seq, 'Read', 'read'), ended(seq + 1, seq, 'completed')])
  const answer = {
    id: 'p',
    call: 'c9',
    tool: 'Read',
    args: {},
    title: undefined,
    outcome: 'allowed-once',
    reason: undefined,
    at: start
  } as const
  const rows = (by: string | undefined) => {
    const [, trail] = blocksOf(from(...reads).items, [], new Map([['c9', { ...answer, by }]]))
    return trail?.type === 'trail' ? trail.rows.map(({ type }) => type) : []
  }
  t.same(rows('This phone'), ['looked', 'step'])
  t.same(rows(undefined), ['looked'])
})

t.test('each local day has one heading', async t => {
  const late = { ...mine(2, 'b'), at: start + 24 * 60 * minute }
  t.same(
    blocksOf(from(mine(1, 'a'), late).items).map(block => block.type),
    ['day', 'item', 'day', 'item']
  )
})

t.test('a decision without a step is shown where it was made', async t => {
  const decision = {
    id: 'p1',
    call: undefined,
    tool: 'Bash',
    args: {},
    title: undefined,
    outcome: 'denied',
    reason: undefined,
    by: undefined,
    at: start + 1500
  } as const
  const blocks = blocksOf(from(mine(1, 'a'), mine(2, 'b')).items, [decision])
  t.same(
    blocks.map(block => block.type),
    ['day', 'item', 'trail', 'item']
  )
})

const story: KnownMessage[] = [
  mine(1, 'fix it'),
  told(2, { t: 'turn-start' }),
  told(3, { t: 'text', text: 'thinking', thinking: true }),
  call(4, 'Read', 'read'),
  ended(5, 4, 'completed'),
  told(6, { t: 'plan', entries: [{ content: 'a', status: 'pending' }] }),
  call(7, 'Bash', 'execute'),
  { seq: 8, localId: null, at: start + 8000, body: undefined, closed: 'unreadable' },
  ended(9, 7, 'failed'),
  told(10, { t: 'plan', entries: [{ content: 'a', status: 'completed' }] }),
  told(11, { t: 'turn-end', status: 'completed' }),
  mine(12, 'again'),
  told(13, { t: 'turn-start' }, { turn: 't2' }),
  call(14, 'Edit', 'edit', { file_path: 'x', old_string: 'a', new_string: 'b' })
]

function view({ items, plan, turn, partials, usage }: Transcript): unknown {
  return { items, plan, turn, partials, usage }
}

t.test('the same messages in any order, in any batches, with repeats, give the same view', async t => {
  const whole = view(from(...story))
  fc.assert(
    fc.property(
      fc.shuffledSubarray(story, { minLength: story.length }),
      fc.array(fc.constantFrom(...story), { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 40, maxLength: 40 }),
      (order, repeats, sizes) => {
        let transcript = emptyTranscript
        const all = [...order, ...repeats]
        for (const size of sizes) transcript = addMessages(transcript, all.splice(0, size))
        t.same(view(addMessages(transcript, all)), whole)
      }
    ),
    { numRuns: 200 }
  )
})

t.test('a transcript is immutable: adding messages leaves the previous one unchanged', async t => {
  const before = from(...story.slice(0, 8))
  const copy = structuredClone(view(before))
  addMessages(before, story.slice(8))
  t.same(view(before), copy)
})

t.test('one more message leaves ten thousand before it untouched', async t => {
  const many = Array.from({ length: 5000 }, (_, i) => [call(2 * i + 1, 'Read', 'read'), ended(2 * i + 2, 2 * i + 1, 'completed')]).flat()
  const before = addMessages(emptyTranscript, many)
  const beganAt = performance.now()
  const after = addMessages(before, [told(20_000, { t: 'text', text: 'more' })])
  t.comment(`${(performance.now() - beganAt).toFixed(2)} ms`)
  t.equal(after.items.length, before.items.length + 1)
  const copied = before.items.filter((item, at) => after.items[at] !== item)
  t.equal(copied.length, 0)
})

/** A message with this number of one sender. */
function by(message: KnownMessage, number: number, { gone = [], sender = 'a' }: { gone?: number[]; sender?: string } = {}): KnownMessage {
  const { body } = message
  const sealedBy = { sender, number, gone: gone.map(number => ({ sender, number })) }
  return body === undefined ? { ...message, by: sealedBy } : { ...message, body: { ...body, meta: { ...body.meta, sealedBy } } }
}

function faults({ items }: Transcript): string[] {
  return items.flatMap(item => (item.type === 'fault' ? `${item.fault} ${item.count}` : []))
}

t.test('a missing message of a sender is marked in place until it arrives or its sender withdraws it [W13]', async t => {
  const gap = from(by(mine(1, 'one'), 1), by(mine(2, 'four'), 4), mine(3, 'by an existing app'), by(mine(4, 'other'), 7, { sender: 'b' }))
  t.strictSame(types(gap), ['mine', 'fault', 'mine', 'mine', 'mine'])
  t.strictSame(faults(gap), ['missing 2'])
  const told = addMessages(gap, [by(mine(5, 'five'), 5, { gone: [2] })])
  t.strictSame(faults(told), ['missing 1'])
  const late = addMessages(told, [by(mine(6, 'three'), 3)])
  t.strictSame(faults(late), ['late 1'])
  t.strictSame(types(late).slice(-2), ['fault', 'mine'])
  t.strictSame(faults(gap), ['missing 2'], 'earlier items are unchanged')
})

t.test('steps, subagents and plans go on where they are when a gap before them is filled [W13]', async t => {
  const plan = (seq: number, content: string) => told(seq, { t: 'plan', entries: [{ content, status: 'pending' }] })
  const gap = from(
    by(mine(1, 'one'), 1),
    by(mine(2, 'three'), 3),
    call(3, 'Read', 'read'),
    call(4, 'Bash', 'execute'),
    told(5, { t: 'start', title: 'look' }, { subagent: 's1' }),
    plan(6, 'first')
  )
  t.strictSame(faults(gap), ['missing 1'])
  const { items } = addMessages(gap, [
    by(mine(7, 'two'), 2),
    ended(8, 3, 'completed'),
    ended(9, 4, 'failed'),
    told(10, { t: 'stop' }, { subagent: 's1' }),
    plan(11, 'second')
  ])
  t.match(
    items.filter(({ type }) => type === 'step' || type === 'plan'),
    [
      { call: 'c3', state: 'ok' },
      { call: 'c4', state: 'failed' },
      { call: 's1', state: 'ok' },
      { type: 'plan', entries: [{ content: 'second' }] }
    ]
  )
  t.equal(new Set(items.map(({ key }) => key)).size, items.length, 'each appears once')
})

t.test('a message that the server sends again under a new number is dropped, and reported [W13]', async t => {
  const done = told(1, { t: 'text', text: 'All tests pass' })
  const transcript = from(by(done, 1), by(mine(2, 'go on'), 1, { sender: 'b' }), by({ ...done, seq: 3 }, 1))
  t.strictSame(types(transcript), ['prose', 'mine', 'fault'])
  t.strictSame(faults(transcript), ['repeated 1'])
})

t.test('nothing counts as missing where the beginning is unknown, or where a message did not decrypt [W13]', async t => {
  const closed: KnownMessage = { seq: 11, localId: null, at: start, body: undefined, closed: 'unreadable' }
  const newer = by({ ...closed, seq: 12, closed: 'unknown-shape' }, 59)
  const page = from(by(mine(10, 'x'), 57), closed, newer, by(mine(13, 'y'), 60))
  t.strictSame(faults(page), [])
  t.strictSame(faults(addMessages(page, [by(mine(8, 'older'), 55), by(mine(9, 'old'), 56)])), [], 'nor once an older page is there')
  t.strictSame(faults(addMessages(page, [by(mine(9, 'older'), 55)])), ['missing 1'], 'but a gap in an older page is reported')
})

t.test("problems found by the machine are shown in the app's words [W13]", async t => {
  const transcript = from(told(1, { t: 'service', text: 'A call was refused.', fault: { type: 'call-astray', count: 1 } }))
  t.strictSame(transcript.items, [{ type: 'fault', key: '1.0', seq: 1, at: start + 1000, fault: 'call-astray', count: 1 }])
  t.equal(transcript.turn, undefined, 'and begins no turn')
})

/** A message of one of the older families. */
function older(seq: number, data: Record<string, unknown>): KnownMessage {
  return opened(seq, { role: 'agent', content: { type: 'event', data } })
}

t.test('every kind of message is shown with all that it says', async t => {
  const at = (seq: number, key = `${seq}.0`) => ({ key, seq, at: start + seq * 1000 })
  const attached = { ref: 'r', name: 'tree.png', size: 9, seal: 'x', mimeType: 'image/png', image: { width: 3, height: 2 } }
  const read = { t: 'tool-call-start' as const, call: 'c', name: 'Read', title: 'Read a.ts', description: 'why', args: { path: 'a.ts' } }
  const diff = { type: 'diff' as const, path: 'b.ts', oldText: 'a', newText: 'b' }
  const edit = { ...read, call: 'd', name: 'Edit', kind: 'edit' as const, locations: ['b.ts'], content: [diff] }
  const { items, plan, turn, usage } = from(
    opened(1, { role: 'user', content: { type: 'text', text: '/x' }, meta: { displayText: 'Look', steer: true } }, 'l1'),
    told(2, { t: 'turn-start' }),
    told(3, { t: 'text', text: 'Hm.', thinking: true }),
    told(4, { t: 'text', text: 'I look.' }, { usage: { input_tokens: 5, output_tokens: 6 } }),
    told(5, read),
    told(6, { t: 'tool-call-end', call: 'c', status: 'completed', content: [{ type: 'text', text: 'ok' }] }),
    told(7, edit),
    told(8, { t: 'file', ...attached }),
    told(9, { t: 'plan', entries: [{ content: 'a', status: 'pending' }] }),
    told(10, { t: 'service', text: 'Codex is newer.' }),
    told(11, { t: 'service', text: ' ' }, { usage: { input_tokens: 7, output_tokens: 8 } }),
    older(12, { type: 'switch', mode: 'local' }),
    older(13, { type: 'switch', mode: 'remote' }),
    older(14, { type: 'limit-reached', endsAt: 1_800_000_000 }),
    opened(15, { role: 'session', content: { id: 'e', time: start, role: 'user', ev: { t: 'text', text: 'typed' } } }),
    told(16, { t: 'turn-end', status: 'failed' })
  )
  const mineOf = { type: 'mine', isWithdrawn: false, files: [] }
  const bare = { type: 'step', description: 'why' }
  t.strictSame(items, [
    { ...mineOf, ...at(1, 'mine.l1'), localId: 'l1', text: 'Look', from: 'app', isSteer: true },
    { type: 'thinking', ...at(3), text: 'Hm.', tookMs: 2000 },
    { type: 'prose', ...at(4), text: 'I look.' },
    {
      ...{ ...bare, ...at(5), call: 'c', kind: 'read', name: 'Read', title: 'Read a.ts', args: { path: 'a.ts' }, locations: [] },
      ...{ content: [{ type: 'text', text: 'ok' }], state: 'ok', endedAt: start + 6000 }
    },
    {
      ...{ ...bare, ...at(7), call: 'd', kind: 'edit', name: 'Edit', title: 'Read a.ts', args: { path: 'a.ts' }, locations: ['b.ts'] },
      ...{ content: [diff], state: 'stopped', endedAt: start + 16_000 }
    },
    { type: 'file', ...at(8), file: attached },
    { type: 'plan', ...at(9), entries: [{ content: 'a', status: 'pending' }] },
    { type: 'note', ...at(10), text: 'Codex is newer.' },
    { type: 'control', ...at(12), to: 'terminal' },
    { type: 'control', ...at(13), to: 'app' },
    { type: 'limit', ...at(14), endsAt: 1_800_000_000_000 },
    { ...mineOf, ...at(15), at: start, localId: null, text: 'typed', from: 'terminal', isSteer: false },
    { type: 'turn-ended', ...at(16), status: 'failed' }
  ])
  t.match(usage, { input_tokens: 7 })
  t.same([plan?.length, turn], [1, undefined])
})

t.test('a step ends as reported, with the changes that it requested or made, and goes on as it is when told again', async t => {
  const diff = (newText: string) => ({ type: 'diff' as const, path: 'a.ts', oldText: 'a', newText })
  const text = (said: string) => ({ type: 'text' as const, text: said })
  const begun = (seq: number, ...content: (ReturnType<typeof diff> | ReturnType<typeof text>)[]) =>
    told(seq, { t: 'tool-call-start', call: 'c1', name: 'Edit', title: `${seq}`, description: '', args: {}, content })
  const over = (status: 'completed' | 'failed' | 'denied' | 'cancelled', ...content: ReturnType<typeof begun>[] | unknown[]) =>
    told(2, { t: 'tool-call-end', call: 'c1', status, content: content as ReturnType<typeof text>[] })
  const first = begun(1, diff('b'), text('draft'))
  t.same(
    (['completed', 'failed', 'denied', 'cancelled'] as const).map(status => step(from(first, over(status))).state),
    ['ok', 'failed', 'denied', 'stopped']
  )
  const contentAfter = (...content: unknown[]) => step(from(first, over('completed', ...content))).content
  t.same(contentAfter(), [diff('b'), text('draft')])
  t.same(contentAfter(text('done')), [diff('b'), text('done')], 'what it said before is outdated')
  t.same(contentAfter(diff('c')), [diff('c')], 'the change as made counts')
  const again = from(first, over('failed'), begun(3))
  t.match(step(again), { key: '1.0', seq: 1, title: '3', state: 'failed', endedAt: start + 2000 })
  t.equal(step(addMessages(again, [told(4, { t: 'turn-end', status: 'cancelled' })])).state, 'failed', 'it no longer ran')
  t.same(from(over('completed')).items, [], 'an end without its beginning is not shown')
})

t.test('a turn that completed or was cut off ends its running steps, and only the latter is shown', async t => {
  const after = (status: 'completed' | 'failed' | 'cancelled') =>
    from(call(1, 'Bash', 'execute'), told(2, { t: 'turn-end', status }, { turn: 't1' }), told(3, { t: 'text', text: 'late' })).items
  t.match(after('completed'), [{ state: 'done', endedAt: start + 2000 }, { type: 'prose' }])
  t.match(after('failed'), [{ state: 'stopped' }, { type: 'turn-ended', status: 'failed', key: '2.0' }, {}])
  t.match(after('cancelled'), [{ state: 'stopped' }, { type: 'turn-ended', status: 'cancelled' }, {}])
  t.equal(
    from(call(1, 'Bash', 'execute'), told(2, { t: 'turn-end', status: 'failed' }), told(3, { t: 'text', text: 'late' })).turn,
    undefined
  )
})

t.test('how long a thought took is shown from one second on, since the event before it', async t => {
  const thought = (seq: number, time: number) =>
    opened(seq, {
      role: 'session',
      content: { id: `e${seq}`, time, role: 'agent', turn: 't1', ev: { t: 'text', text: 'Hm', thinking: true } }
    })
  const took =
    (...before: KnownMessage[]) =>
    (ms: number) => {
      const last = from(...before, thought(9, ms)).items.at(-1)
      return last?.type === 'thinking' ? last.tookMs : 'none'
    }
  const sinceText = took(told(1, { t: 'text', text: 'x' }))
  t.same([sinceText(start + 1999), sinceText(start + 2000)], [undefined, 1000])
  t.equal(took(call(1, 'Bash', 'execute'), ended(3, 1))(start + 5000), 2000, 'after the end of a step')
  t.equal(took(call(1, 'Bash', 'execute'))(start + 5000), 4000, 'which may still run')
  t.equal(took(told(1, { t: 'turn-start' }))(start + 4000), 3000)
  t.equal(took()(start), undefined, 'the turn begins with it')
})

t.test('a partial of a turn that its wrapper ended without naming it is late, and changes nothing', async t => {
  const partial = { turn: 't1', block: 'b', text: 'I lo', thinking: false, at: start }
  const ready = older(2, { type: 'ready' })
  t.equal(addPartial(from(told(1, { t: 'turn-start' }), ready), partial).partials.length, 0)
  t.equal(addPartial(from(told(1, { t: 'turn-start' }, { turn: 't2' }), ready), partial).partials.length, 1)
})

t.test('a growing block stays until its own text, or one that contains it, is stored', async t => {
  const partial = { turn: 't1', block: 'b', text: 'I lo', thinking: false, at: start }
  const grows = (stored: SessionEvent, more: object = {}, turn = 't1') =>
    addMessages(addPartial(emptyTranscript, { ...partial, ...more }), [told(1, stored, { turn })]).partials.length
  t.equal(grows({ t: 'text', text: 'I look' }), 0)
  t.equal(grows({ t: 'text', text: 'You' }), 1)
  t.equal(grows({ t: 'text', text: 'I look', thinking: true }), 1)
  t.equal(grows({ t: 'text', text: 'I look', thinking: true }, { thinking: true }), 0)
  t.equal(grows({ t: 'text', text: 'I look' }, {}, 't2'), 1, 'in another turn')
  t.equal(grows({ t: 'text', text: 'You' }, { block: 'e1' }), 0, 'its own, whatever became of it')
  t.equal(grows({ t: 'turn-end', status: 'completed' }, {}, 't2'), 1)

  const two = addPartial(addPartial(emptyTranscript, partial), { ...partial, block: 'c', text: 'And' })
  t.same(
    addPartial(two, { ...partial, text: 'I look' }).partials.map(({ text }) => text),
    ['And', 'I look']
  )
  t.same(
    addPartial(two, { ...partial, text: '' }).partials.map(({ block }) => block),
    ['c'],
    'withdrawn'
  )
  t.equal(addPartial(emptyTranscript, { ...partial, text: '' }), emptyTranscript)
  t.same(addPartial(addPartial(emptyTranscript, partial), { ...partial, text: '' }).partials, [])
})

t.test('messages that cannot be read are counted apart from those of a newer app', async t => {
  const closed = (seq: number, why?: 'unreadable' | 'unknown-shape'): KnownMessage => ({
    ...{ seq, localId: null, at: start, body: undefined },
    ...(why && { closed: why })
  })
  const { items } = from(
    closed(1),
    closed(2, 'unreadable'),
    closed(3, 'unknown-shape'),
    closed(4, 'unknown-shape'),
    mine(5, 'x'),
    closed(6)
  )
  t.match(items, [
    { key: '1.0', seq: 1, why: 'unreadable', count: 2 },
    { key: '3.0', seq: 3, why: 'unknown-shape', count: 2 },
    { type: 'mine' },
    { key: '6.0', why: 'unreadable', count: 1 }
  ])
})

t.test('a fault is shown where it was found, with the sender whose messages are missing [W13]', async t => {
  const { items } = from(by(mine(1, 'one'), 1), by(mine(2, 'four'), 4), by(mine(3, 'two'), 2))
  const fault = (seq: number) => ({ type: 'fault', key: `${seq}.fault`, seq, at: start + seq * 1000 })
  t.strictSame(
    items.filter(({ type }) => type === 'fault'),
    [
      { ...fault(2), fault: 'missing', count: 1, missing: { sender: 'a', numbers: [3] } },
      { ...fault(3), fault: 'late', count: 1 }
    ]
  )
})

t.test('nothing changes with messages that are known, except one that now opens', async t => {
  const known = from(...[1, 2, 3, 4, 5].map(seq => mine(seq, `${seq}`)))
  for (const seq of [1, 2, 3, 4, 5]) t.equal(addMessages(known, [mine(seq, 'x')]), known, `${seq}`)
  t.equal(addMessages(known, []), known)
  const closed: KnownMessage = { seq: 3, localId: null, at: start, body: undefined, closed: 'unreadable' }
  t.equal(addMessages(known, [closed]), known)
  const before = from(mine(1, '1'), closed, mine(5, '5'))
  t.equal(addMessages(before, [closed]), before)
  const after = addMessages(before, [mine(4, '4'), mine(3, '3'), closed, mine(4, 'repeated')])
  t.same(
    after.items.map(item => item.type === 'mine' && item.text),
    ['1', '3', '4', '5']
  )
  t.same(
    after.messages.map(({ seq }) => seq),
    [1, 3, 4, 5]
  )
})
