import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../../../kit/server.ts'
import { claudeAtTerminal, computerWithClaude, fakeClaude, read, said, written } from '../../kit/claude.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'
import { runWrapper } from '../../kit/wrapper.ts'

const how = { timeout: 60_000, skip: process.platform === 'win32' && 'the fake is a script' }

t.test('its hooks hear nobody without the token, in a file that is private and gone afterwards [W6, W7]', how, async t => {
  const { terminal, home, session } = await claudeAtTerminal(t)
  const [folder = ''] = readdirSync(join(home, 'hooks'))
  const file = join(home, 'hooks', folder, 'settings.json')
  const modes = [join(home, 'hooks'), join(home, 'hooks', folder), file].map(path => statSync(path).mode & 0o777)
  t.strictSame(modes, [0o700, 0o700, 0o600])
  const { url, headers } = JSON.parse(readFileSync(file, 'utf8')).hooks.UserPromptSubmit[0].hooks[0]
  const body = JSON.stringify({ hook_event_name: 'UserPromptSubmit', prompt: 'from a stranger' })
  const post = (more: Record<string, string>) => fetch(url, { method: 'POST', headers: more, body }).then(({ status }) => status)
  t.strictSame(
    [await post({}), await post({ authorization: 'Bearer x' }), await post({ authorization: `${headers.Authorization}x` })],
    [401, 401, 401]
  )
  t.equal((await fetch(url, { headers })).status, 401, 'and nobody who only looks')
  const nonsense = await fetch(url, { method: 'POST', headers, body: 'no json' }).catch(() => undefined)
  t.not(nonsense?.status, 200)
  const cmdline = readFileSync(`/proc/${terminal.pid}/cmdline`, 'utf8')
  t.notMatch(cmdline, headers.Authorization.slice(7))

  terminal.type('still here\r')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(said(session), ['still here'])
  terminal.type('/exit\r')
  await terminal.ended
  t.equal(existsSync(file), false)
})

t.test('a long, a wide and a nasty message arrive whole and once', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  const long = `${'字 '.repeat(3000)}\n${'x'.repeat(20_000)}`
  await session.say(long)
  await session.until(session => turnsEnded(session) === 1)
  await session.say('two\nlines \x1b[201~\x03 and /no command')
  await session.until(session => turnsEnded(session) === 2)
  await session.say('/exit')
  await session.until(session => turnsEnded(session) === 3)
  t.equal(said(session).length, 3, 'each once')
  t.strictSame(texts(session).slice(0, 1), ['you said 23000 signs'])
  t.match(texts(session)[1], /two\nlines \[201~ and \/no command/)
  t.match(texts(session)[2], /you said: *\/exit/, 'a command is said, and does not run')
  t.match(terminal.screen, /❯/)
})

t.test('a message from the phone is not typed into a dialog', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  terminal.type('/menu\r')
  await terminal.sees(/Choose/)
  await session.say('not a choice')
  await session.until(({ state }) => state.controlledByUser === false)
  await session.until(session => turnsEnded(session) === 1)
  t.notMatch(terminal.screen, /chosen with/)
  t.strictSame(texts(session), ['you said: not a choice'])
})

t.test('a Claude Code that is killed ends its session with how, and keeps its words', how, async t => {
  const computer = await claudeAtTerminal(t)
  const { terminal, session } = computer
  terminal.type('first\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.type('/crash\r')
  t.equal(await terminal.ended, 1)
  t.match(terminal.screen, /The agent ended by itself \(signal 9\)/)
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  t.strictSame(read(session), written(computer))
})

t.test('a version that does not know our flags is driven by the phone, with a sentence on both sides', how, async t => {
  const { session, terminal } = await claudeAtRefusal(t, '1')
  await terminal.sees(/Any key takes it back|waits for a message/)
  await session.until(session => session.events().some(event => event.t === 'service' && /did not start at its terminal/.test(event.text)))
  await session.say('then here')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['you said: then here'])
})

t.test('one that starts neither way ends with the sentence of its adapter', how, async t => {
  const { terminal } = await claudeAtRefusal(t, 'both')
  t.equal(await terminal.ended, 1)
  t.match(terminal.screen.replaceAll('\n', ''), /this Claude Code is too old/)
})

t.test('without a terminal on both sides the phone drives from the start', how, async t => {
  const { phone, home, directory, config } = await computerWithClaude(t, await startServer(t))
  runWrapper(t, { home, directory, args: ['claude', 'hello'], env: { CLAUDE_CODE_EXECUTABLE: fakeClaude, CLAUDE_CONFIG_DIR: config } })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  t.equal(session.state.controlledByUser, false)
  t.strictSame(read(session), ['user: hello', 'assistant: you said: hello'])
})

async function claudeAtRefusal(t: Parameters<typeof claudeAtTerminal>[0], how: string) {
  const computer = await computerWithClaude(t, await startServer(t))
  const terminal = computer.sitDown(['claude'], { FAKE_REFUSES: how })
  return { terminal, session: await computer.phone.session() }
}
