import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../../kit/server.ts'
import { runOnTerminal } from '../kit/terminal.ts'
import { linkedComputer } from '../kit/world.ts'

t.test('a missing agent is not announced, and the command that installs it is not broken', async t => {
  const { home } = await linkedComputer(t, await startServer(t))
  const directory = join(home, '..', 'code')
  mkdirSync(directory)
  for (const [agent, command] of [
    ['codex', 'npm install --global @openai/codex'],
    ['opencode', 'npm install --global opencode-ai'],
    ['claude', 'npm install --global @anthropic-ai/claude-code']
  ] as const) {
    const names = { CODEX_BIN: '', OPENCODE_BIN: '', OPENCODE_BIN_PATH: '', CLAUDE_CODE_EXECUTABLE: '' }
    const terminal = runOnTerminal(t, { home, directory, args: [agent], env: { PATH: '', ...names } })
    t.equal(await terminal.ended, 78)
    t.match(terminal.screen, new RegExp(`^Starting .* …\nThe command ${agent} was not found\\.`))
    t.ok(terminal.screen.split('\n').includes(`  ${command}`), terminal.screen)
    t.notMatch(terminal.screen, 'on your phone too')
  }
})

t.test('an unavailable mode is reported at the terminal too, until a turn starts', async t => {
  const { home, phone } = await linkedComputer(t, await startServer(t))
  const terminal = runOnTerminal(t, { home, directory: home, args: ['demo', '--mode', 'nosuch'] })
  await terminal.sees(/Note +Demo agent has no mode “nosuch”; it asks first\./)
  const session = await phone.session()
  await session.say('SCRIPT: text done')
  await session.until(({ events }) => events().some(({ t }) => t === 'turn-end'))
  await terminal.sees(/waiting for a message[^N]*Ctrl-C twice/)
})

t.test('a session that ends says at its terminal how to resume it', async t => {
  const { home, phone } = await linkedComputer(t, await startServer(t))
  const terminal = runOnTerminal(t, { home, directory: home, args: ['demo'] })
  const { id } = await phone.session()
  await terminal.sees(/Ctrl-C twice ends the session/)
  terminal.kill('SIGTERM')
  t.equal(await terminal.ended, 0)
  t.match(terminal.screen, new RegExp(`The session has ended\\. .*Resume it with:\n.* resume ${id}\n`, 's'))
})
