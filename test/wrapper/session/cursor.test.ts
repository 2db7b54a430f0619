import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { envelopeOf } from '../../../lib/client/sealed/messages.ts'
import type { MessageBody } from '../../../lib/protocol/sealed/messages.ts'
import type { AgentEvent, UnsentHistory } from '../../../lib/wrapper/agents/agent.ts'
import type { SessionFolder } from '../../../lib/wrapper/home/session-folder.ts'
import type { SessionNotes } from '../../../lib/wrapper/home/session-notes.ts'
import { createCursor, readUnsent, sendUnsent } from '../../../lib/wrapper/session/cursor.ts'
import { claudeAtTerminal, read } from '../kit/claude.ts'
import { turnsEnded } from '../kit/demo.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test(
  'what Claude recorded after its wrapper was killed is sent by the next run, and nothing is sent again [W1, X1]',
  {
    timeout: 60_000,
    skip: process.platform === 'win32' && 'the fake is a script'
  },
  async t => {
    const { terminal, session, home } = await claudeAtTerminal(t)
    terminal.type('first\r')
    await session.until(session => turnsEnded(session) === 1)
    terminal.kill('SIGKILL')
    await terminal.ended

    const [folder = ''] = readdirSync(join(home, 'sessions'))
    const notesFile = join(home, 'sessions', folder, 'session.json')
    const notes = JSON.parse(readFileSync(notesFile, 'utf8'))
    const { file } = notes.toldUpTo
    const row = (type: string, content: unknown, stop_reason?: string) =>
      `${JSON.stringify({ type, uuid: crypto.randomUUID(), message: { content, stop_reason } })}\n`
    appendFileSync(file, row('user', 'second') + row('assistant', [{ type: 'text', text: 'an answer' }], 'end_turn'))
    appendFileSync(file, row('assistant', [{ type: 'text', text: 'half a row' }]).slice(0, -9))
    // As if it had died before it could note how far it had come.
    writeFileSync(notesFile, JSON.stringify({ ...notes, toldUpTo: { file, offset: 0 } }))

    const flush = runWrapper(t, { home, args: ['flush'] })
    t.equal(await flush.ended, 0, flush.output)
    await session.until(session => turnsEnded(session) === 2)
    t.strictSame(read(session), ['user: first', 'assistant: you said: first', 'user: second', 'assistant: an answer'])
    t.match(session.events().at(-1), { t: 'turn-end', status: 'completed' })
  }
)

t.test('what an ended Claude recorded of a turn is sent again with its steps, under the ids that it was sent with', async t => {
  const row = (type: string, content: unknown) => `${JSON.stringify({ type, uuid: crypto.randomUUID(), message: { content } })}\n`
  const use = { type: 'tool_use', id: 'call-1', name: 'Read', input: { file_path: '/tmp/a.txt' } }
  const result = { type: 'tool_result', tool_use_id: 'call-1', content: 'its text' }
  const file = join(
    t.testdir({
      'transcript.jsonl':
        row('user', 'look') + row('assistant', [{ type: 'text', text: 'I look' }]) + row('assistant', [use]) + row('user', [result])
    }),
    'transcript.jsonl'
  )
  const sendAgain = async (notes: object) => {
    const sent: [body: unknown, localId: string | undefined][] = []
    const cursor = createCursor({
      agent: {},
      folder: {
        notes: { sentUpTo: null, pendingPrompt: null, turn: 'turn-1', turnAt: { file, offset: 0 }, ...notes } as unknown as SessionNotes,
        note: () => {}
      },
      queue: { confirm: () => ({ changes: {}, isLate: false }), drop: () => {}, isAhead: () => false },
      put: async (body, localId) => void sent.push([body, localId])
    })
    return { texts: await cursor.resendTurn(), sent }
  }
  const { texts, sent } = await sendAgain({})
  t.same(texts, ['I look'])
  const kinds = sent.map(([body]) => /"t":"([\w-]+)"/.exec(JSON.stringify(body))?.[1])
  t.same(kinds, ['turn-start', 'text', 'tool-call-start', 'tool-call-end'], 'and no end')
  const again = await sendAgain({})
  t.same(
    again.sent.map(([, localId]) => localId),
    sent.map(([, localId]) => localId)
  )
  t.ok(sent.every(([, localId]) => localId !== undefined))
  t.same((await sendAgain({ sentUpTo: { file, offset: 0 } })).sent, [], 'at its terminal it is read from its history')
  t.same((await sendAgain({ turn: null })).sent, [], 'between turns there is nothing to send')
})

t.test('a prompt is noted before it is given to an agent that may record it, and forgotten once its turn is over', async t => {
  const place = { file: '/t.jsonl', offset: 3 }
  const cases = [
    [{}, false],
    [{ handover: { by: 'phone' } }, true],
    [{ writesAt: () => place }, true],
    [{ writesDown: true }, true]
  ] as const
  for (const [agent, mayHaveIt] of cases) {
    const { cursor, notes, dropped } = cursorOf(agent)
    const prompt = { text: 'x', meta: undefined, attachments: [], seq: 4, localId: 'l', edits: [{ seq: 6, localId: 'm' }] }
    cursor.begin(prompt, 'y'.repeat(300), 'turn-1')
    t.match(notes(), { turn: 'turn-1', turnAt: 'writesAt' in agent ? place : null })
    const pending = { seq: 4, localId: 'l', text: 'y'.repeat(200), isAhead: true, edits: [6] }
    t.strictSame(notes().pendingPrompt, mayHaveIt ? pending : undefined, Object.keys(agent).join())
    cursor.end({ isDropped: false })
    t.match(notes(), { turn: null, turnAt: null })
    t.strictSame(dropped, [], 'the agent has it')
    t.strictSame(notes().pendingPrompt, 'writesDown' in agent ? pending : null, 'or it will be given again if it is not in the history')
  }
})

t.test('what cannot be sent is not noted as sent, whichever message it is', async t => {
  const events: AgentEvent[] = [
    { type: 'prompted', text: 'typed', isOurs: false, row: 'r1' },
    { type: 'text', block: 'b', text: 'a', thinking: false, row: 'r2' },
    { type: 'turn-ended', reason: 'done' },
    { type: 'step-started', step: { call: 'c', name: 'Bash', title: 'make', kind: 'execute', input: {}, locations: [], content: [] } }
  ]
  const messages = async (failing: number, notes: object, history: UnsentHistory) => {
    let sent = 0
    let isNoted = false
    const folder = { notes: notesOf(notes), note: () => (isNoted = true) } as unknown as SessionFolder
    const put = async () => {
      const place = sent++
      await new Promise(resolve => setImmediate(resolve))
      if (place === failing) throw new Error('full')
    }
    const isSent = await sendUnsent(history, folder, put).then(
      () => true,
      () => false
    )
    return { sent, isNoted, isSent }
  }
  const upTo = { file: '/t.jsonl', offset: 3 }
  for (const [notes, history] of [
    [{}, { events, upTo }],
    [{ turn: 'turn-1' }, { events: [], upTo: undefined }]
  ] as const) {
    const whole = await messages(-1, notes, history)
    t.match(whole, { isNoted: true, isSent: true })
    for (let failing = 0; failing < whole.sent; failing++)
      t.strictSame(await messages(failing, notes, history), { sent: failing + 1, isNoted: false, isSent: false }, `${failing}`)
  }
})

t.test('a prompt of this terminal has no number to drop', async t => {
  const { cursor, notes, dropped } = cursorOf({ writesDown: true })
  cursor.begin({ text: 'x', meta: undefined, attachments: [], seq: undefined, localId: 'l' }, 'x', 'turn-1')
  t.strictSame(notes().pendingPrompt, { seq: null, localId: 'l', text: 'x', isAhead: true })
  cursor.end({ isDropped: true })
  t.strictSame([dropped, notes().pendingPrompt], [[], null])
  cursor.begin({ text: 'x', meta: undefined, attachments: [], seq: 2, localId: 'l' }, 'x', 'turn-2')
  cursor.end({ isDropped: true })
  t.match(dropped, [{ seq: 2, localId: 'l' }])
})

t.test('what is read of the history is noted with the position up to which it was sent', async t => {
  const { cursor, notes, confirmed } = cursorOf({ handover: { by: 'terminal' } })
  t.ok(cursor.writesDown)
  cursor.beginLater('turn-1')
  t.ok(cursor.confirm())
  t.ok(cursor.confirm())
  t.match(confirmed, [{ turn: 'turn-1' }, { cursor: 7 }], 'also what is not on disk yet counts')
  t.match(notes(), { turn: null, cursor: 0 }, 'but not before its output is sent')
  cursor.noteSent({ file: '/t.jsonl', offset: 9 })
  t.match(notes(), { turn: 'turn-1', cursor: 7, pendingPrompt: null, sentUpTo: { offset: 9 } })
  cursor.toPhone()
  t.equal(notes().sentUpTo, null)
  t.notOk(cursorOf({ handover: { by: 'phone' } }).cursor.writesDown)
})

t.test('history is read from where it was sent to, or from the beginning of the turn', async t => {
  const row = (type: string, content: unknown) => `${JSON.stringify({ type, uuid: crypto.randomUUID(), message: { content } })}\n`
  const before = row('user', 'first')
  const file = join(t.testdir({ 'a.jsonl': before + row('assistant', [{ type: 'text', text: 'an answer' }]) }), 'a.jsonl')
  const at = { file, offset: before.length }
  const none = { sentUpTo: null, pendingPrompt: null, turn: null, turnAt: null }
  t.match(readUnsent({ ...none, sentUpTo: at }), { events: [{ type: 'text', text: 'an answer' }], upTo: { file } })
  t.match(readUnsent({ ...none, turn: 'turn-1', turnAt: at }), { events: [{ type: 'text', text: 'an answer' }], upTo: undefined })
  const nothing = { events: [], upTo: undefined }
  t.strictSame(readUnsent(none), nothing)
  t.strictSame(readUnsent({ ...none, turnAt: at }), nothing, 'between turns')
  t.strictSame(readUnsent({ ...none, turn: 'turn-1' }), nothing)
  t.strictSame(readUnsent({ ...none, sentUpTo: { file: 'thread-1', offset: 0 } }), nothing, 'not a file')
})

t.test('what a killed process did not send is sent, with the end of its turn, and noted as read', async t => {
  const upTo = { file: '/t.jsonl', offset: 9 }
  const text = (text: string): AgentEvent => ({ type: 'text', block: 'b', text, thinking: false })
  const ours: AgentEvent = { type: 'prompted', text: 'mine', isOurs: true, row: 'r1' }
  const typed: AgentEvent = { type: 'prompted', text: 'typed', isOurs: false, row: 'r2' }
  const done: AgentEvent = { type: 'turn-ended', reason: 'done' }
  const pendingPrompt = { seq: 5, localId: 'l5', text: 'mine', isAhead: false, edits: [8] }
  const reasons = [
    { localId: 'l5', text: 'no' },
    { localId: 'l6', text: 'stop' }
  ]

  const whole = await unsent({ events: [ours, text('a'), done, typed, text('b')], upTo }, { pendingPrompt, reasons, cursor: 2 })
  t.strictSame(whole.said, [
    'turn-start',
    'text a',
    'turn-end completed',
    'user typed',
    'turn-start',
    'text b',
    'text Afield on box ended in the middle of this turn.',
    'turn-end cancelled'
  ])
  t.match(whole.notes, { turn: null, cursor: 5, settled: [8], pendingPrompt: null, sentUpTo: upTo })
  t.strictSame(whole.notes.reasons, [{ localId: 'l6', text: 'stop' }])

  const ahead = await unsent({ events: [ours, done], upTo }, { pendingPrompt: { ...pendingPrompt, isAhead: true }, settled: [1] })
  t.match(ahead.notes, { cursor: 0, settled: [1, 8, 5] }, 'earlier ones still wait')

  const renumbered = await unsent({ events: [ours, done], upTo }, { pendingPrompt, id: 'other' })
  t.match(renumbered.notes, { cursor: 0, settled: [], id: 'new' }, 'its numbers are of another session')

  const same = await unsent({ events: [ours, done], upTo }, { pendingPrompt, id: 'new' })
  t.match(same.notes, { cursor: 5, settled: [8], id: 'new' })

  const open = await unsent({ events: [], upTo: undefined }, { turn: 'turn-1', pendingPrompt })
  t.strictSame(open.said, ['turn-start', 'text Afield on box ended in the middle of this turn.', 'turn-end cancelled'])
  t.match(open.notes, { turn: null, pendingPrompt: null, cursor: 0 })
  t.notOk('sentUpTo' in open.changes)

  const unread = await unsent({ events: [], upTo: undefined }, { pendingPrompt, sentUpTo: upTo })
  t.strictSame(unread.said, [])
  t.match(unread.notes, { pendingPrompt, sentUpTo: upTo }, 'its history tells later whether the agent has it')
})

function notesOf(changes: object): SessionNotes {
  return { tag: 't', server: '', key: null, metadata: { path: '', host: 'box' }, cursor: 0, settled: [], turn: null, ...changes }
}

function cursorOf(agent: object) {
  let notes = notesOf({})
  const dropped: object[] = []
  const confirmed: object[] = []
  const cursor = createCursor({
    agent,
    folder: {
      get notes() {
        return notes
      },
      note: changes => (notes = { ...notes, ...changes })
    },
    queue: {
      confirm(_, notes) {
        confirmed.push(notes)
        return { changes: { cursor: 7 }, isLate: true }
      },
      drop: message => void dropped.push(message),
      isAhead: () => true
    },
    put: async () => {}
  })
  return { cursor, dropped, confirmed, notes: () => notes }
}

async function unsent(history: UnsentHistory, before: object) {
  const folder = { notes: notesOf(before) }
  let changes = {}
  const note = (noted: object) => {
    changes = noted
    // The server may give it another id while this is sent.
    folder.notes = { ...folder.notes, ...noted }
  }
  const bodies: MessageBody[] = []
  const put = async (body: MessageBody) => {
    if ('id' in before) folder.notes = { ...folder.notes, id: 'new' as NonNullable<SessionNotes['id']> }
    await new Promise(resolve => setImmediate(resolve))
    bodies.push(body)
  }
  await sendUnsent(history, Object.assign(folder, { note }) as unknown as SessionFolder, put)
  const said = bodies.flatMap(body => {
    const ev = envelopeOf(body)?.ev
    if (body.role === 'user') return `user ${body.content.text}`
    return ev?.t === 'text' || ev?.t === 'service' ? `text ${ev.text}` : ev?.t === 'turn-end' ? `turn-end ${ev.status}` : (ev?.t ?? [])
  })
  return { said, notes: folder.notes, changes }
}
