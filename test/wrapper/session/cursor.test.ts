import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
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
