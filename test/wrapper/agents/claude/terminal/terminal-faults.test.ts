import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { unknownVersion } from '../../../../../lib/wrapper/agents/claude/version.ts'
import { endOrphans } from '../../../../../lib/wrapper/home/ownership.ts'
import { nameOf } from '../../../../../lib/wrapper/home/processes.ts'
import { startServer } from '../../../../kit/server.ts'
import { claudeAtTerminal, computerWithClaude, fakeClaude, read, said, written } from '../../../kit/claude.ts'
import { texts, turnsEnded } from '../../../kit/demo.ts'
import type { PhoneSession } from '../../../kit/phone.ts'
import { linkedComputer } from '../../../kit/world.ts'
import { runWrapper } from '../../../kit/wrapper.ts'

const how = { timeout: 60_000, skip: process.platform === 'win32' && 'the fake is a script' }

t.test('its hooks require the token, from a file that is private and removed afterwards [W6, W7]', how, async t => {
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

t.test('long, wide and hostile messages arrive whole and once', how, async t => {
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

t.test('with several simultaneous tools, each closes its own question, and the end of the turn leaves none open', how, async t => {
  const { home, session, terminal } = await claudeAtTerminal(t)
  // Without a row of the transcript it would go over to the phone when the turn ends.
  terminal.type('hello\r')
  await session.until(session => turnsEnded(session) === 1)
  const [folder = ''] = readdirSync(join(home, 'hooks'))
  const settings = JSON.parse(readFileSync(join(home, 'hooks', folder, 'settings.json'), 'utf8'))
  const hook = async (name: string, more: object) => {
    const { url, headers } = settings.hooks[name][0].hooks[0]
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ hook_event_name: name, ...more }) })
    return answer.json()
  }
  const use = (id: string, name: string) => ({ tool_use_id: id, tool_name: 'Bash', tool_input: { command: name } })
  await hook('UserPromptSubmit', { prompt: 'go' })
  for (const tool of [use('one', 'make'), use('two', 'make'), use('three', 'test')]) await hook('PreToolUse', tool)
  const { tool_use_id: _, ...make } = use('', 'make')
  const asked = [hook('PermissionRequest', make), hook('PermissionRequest', make)]
  await session.until(session => open(session).length === 2)
  t.strictSame(open(session), ['one', 'two'], 'each is that of a use, and of another one')
  await hook('PostToolUse', use('two', 'make'))
  await session.until(session => open(session).length === 1)
  t.strictSame(open(session), ['one'])

  const unknown = hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'not begun' } })
  await session.until(session => open(session).length === 2)
  await hook('Stop', {})
  await session.until(session => open(session).length === 0)
  t.strictSame(await Promise.all([...asked, unknown]), [{}, {}, {}])
  await session.say('and now')
  await session.until(session => texts(session).includes('you said: and now'))
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

t.test('a message that cannot go through the phone is typed at the terminal once it is free, and so is the next', how, async t => {
  const { terminal, session, home } = await claudeAtTerminal(t)
  const adapter = join(home, 'agents', 'node_modules', '@agentclientprotocol', 'claude-agent-acp', 'index.mjs')
  writeFileSync(adapter, 'process.exit(1)\n')
  terminal.type('/menu\r')
  await terminal.sees(/Choose/)
  await session.say('not a choice')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('the next')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(texts(session), ['you said: not a choice', 'you said: the next'])
  t.strictSame(said(session), ['not a choice', 'the next'])
})

t.test('a killed Claude Code ends its session with the cause, and its text stays', how, async t => {
  const computer = await claudeAtTerminal(t)
  const { terminal, session } = computer
  terminal.type('first\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.type('/crash\r')
  t.equal(await terminal.ended, 1)
  await terminal.sees(/The agent exited unexpectedly \(killed by SIGKILL\)/)
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  t.strictSame(read(session), written(computer))
})

t.test('the text of a killed Claude Code is marked as cut off, and its turn has failed', how, async t => {
  const { terminal, session, config, sitDown } = await claudeAtTerminal(t)
  await session.say('hello')
  await session.until(session => turnsEnded(session) === 1)
  await session.say(`slow 60000 ${'word '.repeat(600)}`)
  await session.until(({ partials }) => partials.some(({ text }) => text.startsWith('word word')))
  const [status = ''] = readdirSync(join(config, 'sessions'))
  process.kill(Number.parseInt(status, 10), 'SIGKILL')
  await terminal.ended
  const again = sitDown(['resume', session.id])
  await again.sees(/❯/)
  await session.say('and on')
  await session.until(session => texts(session).includes('you said: and on') && turnsEnded(session) === 3)
  const told = session.events().filter(({ t }) => t === 'text' || t === 'turn-end')
  t.match(told.slice(2), [
    { t: 'text', text: /^word word/, cut: true },
    { t: 'turn-end', status: 'failed' },
    { t: 'text', text: 'you said: and on' },
    { t: 'turn-end', status: 'completed' }
  ])
  const seen = session.partials.findLast(({ text }) => text.startsWith('word'))
  const [cut] = told.flatMap(event => (event.t === 'text' && event.cut ? event.text : []))
  t.ok(seen && cut?.startsWith(seen.text.trim()), 'nothing that was on the phone is gone')
  // What was told whole has no half beside it.
  t.equal(texts(session).filter(text => text === 'you said: hello').length, 1)
})

t.test('a version that does not know our flags is driven by the phone, with a sentence on both sides', how, async t => {
  const { session, terminal } = await claudeAtRefusal(t, '1')
  await terminal.sees(/Any key takes it back|waiting for a message/)
  await session.until(session => session.events().some(event => event.t === 'service' && /did not start at its terminal/.test(event.text)))
  await session.say('then here')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['you said: then here'])
})

t.test("one that starts neither way ends with its adapter's error", how, async t => {
  const { terminal } = await claudeAtRefusal(t, 'both')
  t.equal(await terminal.ended, 1)
  t.match(terminal.screen.replaceAll('\n', ''), /this Claude Code is too old/)
})

t.test('without a terminal on both sides the phone is in control from the start', how, async t => {
  const { phone, home, directory, config } = await computerWithClaude(t, await startServer(t))
  runWrapper(t, { home, directory, args: ['claude', 'hello'], env: { CLAUDE_CODE_EXECUTABLE: fakeClaude, CLAUDE_CONFIG_DIR: config } })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  t.equal(session.state.controlledByUser, false)
  t.strictSame(read(session), ['user: hello', 'assistant: you said: hello'])
})

t.test('an untested version is reported on both sides, and works as far as it can', how, async t => {
  const { terminal, session } = await claudeWith(t, { FAKE_VERSION: '3.0.1' })
  t.match(terminal.screen, /Claude Code 3\.0\.1 is newer than tested/)
  await session.until(session => notices(session).some(text => /3\.0\.1 is newer than tested/.test(text)))
  terminal.type('hello\r')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['you said: hello'])
  t.match(unknownVersion('1.9.0'), /older than tested/)
  t.match(unknownVersion(undefined), /could not determine/)
  t.equal(unknownVersion('2.1.400'), undefined)
})

t.test('one that calls no hooks is handed to the phone after its turn, says why, and returns when a key is pressed', how, async t => {
  const { terminal, session } = await claudeWith(t, { FAKE_LACKS: 'hooks' })
  terminal.type('hello\r')
  await session.until(({ state }) => state.controlledByUser === false)
  await session.until(session => notices(session).some(text => /hooks are disabled/.test(text)))
  t.strictSame(texts(session), ['you said: hello'])
  await session.say('and here')
  await session.until(session => turnsEnded(session) === 2)
  terminal.type(' ')
  await session.until(({ state }) => state.controlledByUser === true)
  await terminal.sees(/you said: and here/)
  terminal.type('again\r')
  await session.until(session => turnsEnded(session) === 3)
  t.equal(session.state.controlledByUser, true, 'who brought it back keeps it')
})

t.test('one whose transcript is not found is handed to the phone, and says why', how, async t => {
  const { terminal, session } = await claudeWith(t, { FAKE_LACKS: 'transcript' })
  terminal.type('hello\r')
  await session.until(({ state }) => state.controlledByUser === false)
  await session.until(session => notices(session).some(text => /cannot find the transcript/.test(text)))
})

t.test('where no program can get a terminal the phone is in control, and the terminal says so', how, async t => {
  const noAddon = `process.dlopen = (dlopen => (module, file, ...more) => {
    if (/zigpty/.test(file)) throw new Error('no such addon')
    return dlopen.call(process, module, file, ...more)
  })(process.dlopen)`
  const computer = await computerWithClaude(t, await startServer(t))
  const terminal = computer.sitDown(['claude', 'hello'], { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noAddon)}` })
  await terminal.sees(/Afield cannot show Claude Code\S s own screen|own screen on this kind of computer/)
  const session = await computer.phone.session()
  await session.until(session => turnsEnded(session) === 1)
  t.equal(session.state.controlledByUser, false)
  t.strictSame(texts(session), ['you said: hello'])
})

t.test('a message that arrives during shutdown is not lost: the next run reads it, once', how, async t => {
  const computer = await claudeAtTerminal(t)
  const { terminal, session, sitDown } = computer
  terminal.type('first\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.kill('SIGTERM')
  await session.say('said meanwhile')
  t.equal(await terminal.ended, 0)
  const again = sitDown(['resume', session.id])
  await session.until(session => turnsEnded(session) >= 2 && texts(session).includes('you said: said meanwhile'))
  await again.sees(/said meanwhile/)
  t.strictSame(said(session), ['first', 'said meanwhile'])
  t.strictSame(texts(session), ['you said: first', 'you said: said meanwhile'])
})

t.test('processes left by a killed wrapper are ended by the next one, and no other process with the same id', how, async t => {
  const { home } = await linkedComputer(t, await startServer(t))
  const begin = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
  const [orphan, stranger] = [begin(), begin()]
  t.teardown(() => stranger.kill('SIGKILL'))
  const folder = join(home, 'processes')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const note = (name: string | undefined) =>
    writeFileSync(join(folder, `${name}@999999-1.json`), JSON.stringify({ of: 'agent', title: 'x', folder: '/', at: 0 }))
  note(nameOf(orphan.pid ?? 0))
  note(`${stranger.pid}-1`)
  const ended = once(orphan, 'exit')
  await endOrphans(home)
  t.match(await ended, [null, 'SIGTERM'])
  t.strictSame([stranger.exitCode, stranger.signalCode], [null, null])
  t.strictSame(readdirSync(folder), [])
})

function notices({ events }: PhoneSession): string[] {
  return events().flatMap(event => (event.t === 'service' ? event.text : []))
}

async function claudeWith(t: Parameters<typeof claudeAtTerminal>[0], env: Record<string, string>) {
  return claudeAtTerminal(t, { env })
}

async function claudeAtRefusal(t: Parameters<typeof claudeAtTerminal>[0], how: string) {
  const computer = await computerWithClaude(t, await startServer(t))
  const terminal = computer.sitDown(['claude'], { FAKE_REFUSES: how })
  return { terminal, session: await computer.phone.session() }
}

/** The requests that the phone shows. */
function open(session: PhoneSession): string[] {
  return Object.keys(session.state.requests ?? {}).toSorted()
}

t.test('a turn stopped at the terminal before the first word ends on the phone, which says so [W14]', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  terminal.type('silent here\r')
  await session.until(session => session.events().some(({ t }) => t === 'turn-start'))
  await session.say('from the phone')
  terminal.type('\x1b')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(texts(session), ['you said: from the phone'])
  const said = session.events().flatMap(event => (event.t === 'service' ? event.text : []))
  t.ok(said.includes('It was stopped at its terminal before it wrote anything.'))
})

t.test('Stop on the phone before the first word ends the turn, and the next message is sent [W14]', how, async t => {
  const { session } = await claudeAtTerminal(t)
  await session.say('silent now')
  await session.until(session => session.events().some(({ t }) => t === 'turn-start'))
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 1)
  await session.say('and on')
  await session.until(session => turnsEnded(session) === 2)
  t.strictSame(texts(session), ['you said: and on'])
})
