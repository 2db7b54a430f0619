import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../../../kit/server.ts'
import { claudeAtTerminal, computerWithClaude, fakeClaude, read, said, written } from '../../kit/claude.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'
import type { PhoneSession } from '../../kit/phone.ts'
import { runWrapper } from '../../kit/wrapper.ts'

// A fake Claude Code on a real terminal; test/real has the same with the real one.
const how = { timeout: 60_000, skip: process.platform === 'win32' && 'the fake is a script' }

t.test('what is said at the terminal is on the phone, and what the phone writes is typed there', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  await session.until(({ state }) => state.controlledByUser === true)
  terminal.type('from the desk\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.type('half a thought')
  await terminal.sees(/❯ half a thought/)
  await session.say('from the phone')
  await session.until(session => turnsEnded(session) === 2)
  await terminal.sees(/❯ half a thought$/m)
  t.strictSame(read(session), [
    'user: from the desk',
    'assistant: you said: from the desk',
    'user: from the phone',
    'assistant: you said: from the phone'
  ])
  t.equal(session.state.controlledByUser, true, 'the keyboard stayed at the desk')
})

t.test('rows that are written down late are told before the end of their turn, and in order', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t, { env: { FAKE_LAG_MS: '1000' } })
  terminal.type('write late.txt\r')
  const id = await question(session)
  await session.call('permission', { id, approved: true })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(
    session.events().map(({ t }) => t),
    ['turn-start', 'text', 'tool-call-start', 'tool-call-end', 'text', 'turn-end']
  )
})

t.test('a question is answered on the phone while its dialog is open, and in the dialog while it is on the phone', how, async t => {
  const { terminal, session, directory } = await claudeAtTerminal(t)
  await session.say('write one.txt')
  const first = await question(session)
  await terminal.sees(/create one.txt/)
  t.match(session.state.requests?.[first], { tool: 'Write', kind: 'edit', content: [{ type: 'diff', newText: 'from the model\n' }] })
  await session.call('permission', { id: first, approved: true, choice: 'allow', shown: session.state.requests?.[first]?.shown ?? '' })
  await session.until(session => turnsEnded(session) === 1)
  await terminal.sees(/the dialog is closed/)
  t.equal(readFileSync(join(directory, 'one.txt'), 'utf8'), 'from the model\n')

  terminal.type('write two.txt\r')
  await question(session)
  terminal.type('1')
  await session.until(session => turnsEnded(session) === 2)
  terminal.type('write three.txt\r')
  await question(session)
  terminal.type('2')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame([existsSync(join(directory, 'two.txt')), existsSync(join(directory, 'three.txt'))], [true, false])
  t.match(Object.values(session.state.completedRequests ?? {}), [
    { status: 'approved' },
    { status: 'approved', answeredBy: 'the terminal' },
    { status: 'denied', answeredBy: 'the terminal' }
  ])
  const ends = session.events().flatMap(event => (event.t === 'tool-call-end' ? event.status : []))
  t.strictSame(ends, ['completed', 'completed', 'denied'])
})

t.test('allowing it for the session on the phone changes the mode in the terminal', how, async t => {
  const { session, directory } = await claudeAtTerminal(t)
  await session.say('write one.txt')
  await session.call('permission', { id: await question(session), approved: true, choice: 'always' })
  await session.until(session => turnsEnded(session) === 1)
  await session.say('write two.txt')
  await session.until(session => turnsEnded(session) === 2)
  t.ok(existsSync(join(directory, 'two.txt')), 'without a question')
  t.equal(session.metadata.currentOperatingModeCode, 'acceptEdits')
})

t.test('Esc in the terminal ends the turn on the phone, with the half that was said', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  terminal.type(`slow 20000 ${'word '.repeat(100)}\r`)
  await session.until(({ events }) => events().some(({ t }) => t === 'turn-start'))
  await session.until(({ metadata }) => metadata.agentSessionId !== undefined)
  await terminal.sees(/> slow/)
  terminal.type('\x1b')
  await terminal.sees(/Interrupted/)
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })

  terminal.type('write never.txt\r')
  await question(session)
  terminal.type('\x1b')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(Object.keys(session.state.requests ?? {}), [], 'and its question is over')
})

t.test('the phone takes over in the middle of a turn, any key takes it back, and nothing is lost or said twice', how, async t => {
  const computer = await claudeAtTerminal(t)
  const { terminal, session } = computer
  terminal.type(`slow 30000 ${'word '.repeat(200)}\r`)
  await session.until(({ events }) => events().some(({ t }) => t === 'turn-start'))
  await session.call('switch', { to: 'remote' })
  await session.until(session => session.state.controlledByUser === false && turnsEnded(session) === 1)
  await terminal.sees(/Any key takes it back/)
  await session.say('second')
  await session.until(session => turnsEnded(session) === 2)
  await session.say('write by-phone.txt')
  await session.call('permission', { id: await question(session), approved: true })
  await session.until(session => turnsEnded(session) === 3)

  terminal.type(' ')
  await session.until(({ state }) => state.controlledByUser === true)
  await terminal.sees(/> write by-phone.txt/)
  terminal.type('third\r')
  await session.until(session => turnsEnded(session) === 4)
  t.strictSame(read(session), written(computer))

  terminal.type('/exit\r')
  t.equal(await terminal.ended, 0)
  t.match(terminal.screen, /The session has ended\. Everything was delivered\./)
})

t.test('its person leaves it with /exit: the session ends, and goes on later with its history, neither lost nor repeated', how, async t => {
  const computer = await claudeAtTerminal(t)
  const { terminal, session, sitDown } = computer
  terminal.type('first\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.type('/exit\r')
  t.equal(await terminal.ended, 0)
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  await session.say('said meanwhile')

  const again = sitDown(['resume', session.id])
  await session.until(session => turnsEnded(session) === 2)
  again.type('third\r')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(said(session), ['first', 'said meanwhile', 'third'])
  t.strictSame(texts(session), ['you said: first', 'you said: said meanwhile', 'you said: third'])
  t.strictSame(read(session), written(computer))
})

t.test('/clear goes on under another id, which the next run resumes', how, async t => {
  const { terminal, session, sitDown } = await claudeAtTerminal(t)
  terminal.type('before\r')
  await session.until(session => turnsEnded(session) === 1)
  const before = session.metadata['claudeSessionId']
  terminal.type('/clear\r')
  await terminal.sees(/cleared/)
  terminal.type('after\r')
  await session.until(session => turnsEnded(session) === 2 && session.metadata['claudeSessionId'] !== before)
  t.strictSame(texts(session), ['you said: before', 'you said: after'])
  terminal.type('/exit\r')
  await terminal.ended
  const again = sitDown(['resume', session.id])
  await again.sees(/> after/)
  t.notMatch(again.screen, /> before/)
})

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

async function question(session: PhoneSession): Promise<string> {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  return id
}
