import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { SessionNotes } from '../../../lib/wrapper/home/session-notes.ts'
import { createCursor } from '../../../lib/wrapper/session/cursor.ts'
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
