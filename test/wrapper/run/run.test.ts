import { mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { version } from '../../../lib/assets.ts'
import { BoundedQueue } from '../../../lib/async/queue.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { engine, toBase64 } from '../../../lib/crypto/index.ts'
import { type Agent, AgentDied, type AgentEvent, type AgentKind, type StartAgent } from '../../../lib/wrapper/agents/agent.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { claimConversation } from '../../../lib/wrapper/home/ownership.ts'
import { createSessionFolder, findLeftovers, listSessions, reopen } from '../../../lib/wrapper/home/session-folder.ts'
import { type RunOptions, runAgent } from '../../../lib/wrapper/run/run.ts'
import { signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { computerWithSession, leaveBehind } from '../kit/left-behind.ts'
import { runOnTerminal } from '../kit/terminal.ts'
import { linkedComputer } from '../kit/world.ts'

async function linked(t: Test) {
  const server = await startServer(t)
  return { server, ...(await linkedComputer(t, server)) }
}

/** An agent in this process that says what the test lets it say, on a computer that is linked. */
async function runHere(t: Test, { flavor = 'acp', computer }: { flavor?: string; computer?: Awaited<ReturnType<typeof linked>> } = {}) {
  const { server, phone, home: path } = computer ?? (await linked(t))
  const events = new BoundedQueue<AgentEvent>(100)
  const started: StartAgent[] = []
  const given: string[] = []
  const died = Promise.withResolvers<never>()
  died.promise.catch(() => {})
  const agent: Agent = {
    conversation: 'own',
    version: undefined,
    events: {
      async *[Symbol.asyncIterator]() {
        const all = events[Symbol.asyncIterator]()
        for (;;) {
          const next = await Promise.race([all.next(), died.promise])
          if (next.done) return
          yield next.value
        }
      }
    },
    prompt: async text => {
      given.push(text)
      events.offer({ type: 'turn-ended', reason: 'done' })
      return true
    },
    answer: () => false,
    setMode: async () => false,
    setModel: async model => {
      given.push(`model ${model}`)
      return true
    },
    setEffort: async effort => {
      given.push(`effort ${effort}`)
      return true
    },
    cancel: async () => void events.offer({ type: 'turn-ended', reason: 'cancelled' }),
    async stop() {
      events.close()
    }
  }
  const kind: AgentKind = {
    flavor,
    title: 'Own agent',
    program: { kind: 'demo' },
    async start(how) {
      started.push(how)
      return agent
    }
  }
  const home = openHome({ AFIELD_HOME: path })
  let output = ''
  const terminal = {
    isTTY: false,
    columns: Number.POSITIVE_INFINITY,
    rows: 24,
    write(text: string) {
      output += text
    },
    onResize: () => () => {},
    ask: async () => undefined
  }
  const archive = async (session: string) => {
    const person = await signUp(t, server, phone.secret)
    const app = await person.connect()
    for (;;) {
      const { body } = await person.call('GET', '/v1/sessions')
      const { metadata, metadataVersion, dataEncryptionKey } = body.sessions.find(({ id }: { id: string }) => id === session)
      const cipher = accountVault(phone.secret).openKey(dataEncryptionKey)
      const opened = cipher?.open(metadata)
      const sealed = cipher?.seal({ ...Object(opened?.ok && opened.value), lifecycleState: 'archiveRequested' })
      const { result } = await app.emitWithAck('update-metadata', { sid: session, metadata: sealed, expectedVersion: metadataVersion })
      if (result === 'success') return
    }
  }
  return {
    server,
    phone,
    home,
    events,
    started,
    given,
    die: () => died.reject(new AgentDied('exit code 3', 'first\u001b[31m words\n\nlast words\n')),
    output: () => output,
    archive,
    run: (more: Partial<RunOptions> = {}) =>
      runAgent({ home, server: undefined, env: { PATH: '/nowhere' }, terminal, kind, directory: path, ...more })
  }
}

t.test('a session says of itself where and how it runs, and ends when it is archived elsewhere', async t => {
  const { server, phone, home, started, given, output, archive, run } = await runHere(t, { flavor: 'codex' })
  const ended = run({ prompt: 'plant trees', model: 'quick', effort: 'low', mode: 'careful' })
  const session = await phone.session()
  await session.until(({ messages }) => messages.length > 0)
  t.match(started, [
    { directory: home.path, env: { PATH: '/nowhere' }, mode: 'careful', resume: undefined, isUnsent: false, screen: undefined }
  ])
  t.same(given, ['model quick', 'effort low', 'plant trees'])
  t.match(session.metadata, {
    path: home.path,
    afieldVersion: version(),
    machineId: home.machineId,
    homeDir: homedir(),
    happyHomeDir: home.path,
    startedFromDaemon: false,
    startedBy: 'terminal',
    hostPid: process.pid,
    lifecycleState: 'running',
    flavor: 'codex',
    agentTitle: 'Own agent',
    agentSessionId: 'own',
    codexThreadId: 'own'
  })
  t.notOk('claudeSessionId' in session.metadata)
  const [{ notes } = { notes: undefined }] = listSessions(home.path)
  t.match(notes, { server: server.url, cursor: Number, isNamed: true, knowsEdits: true, isStarting: false })
  await archive(session.id)
  t.equal(await ended, 0)
  t.match(output(), /^Starting Own agent …\n/)
  t.match(output(), /archived on another device.* Everything was delivered\.\n$/)
})

t.test('a session that the daemon started says so, with the name that it waits for', async t => {
  const { phone, home, archive, run } = await runHere(t, { flavor: 'claude' })
  const ended = run({ tag: 'waited-for', about: { parentSessionId: 'p' } })
  const session = await phone.session()
  t.match(session.metadata, { startedFromDaemon: true, startedBy: 'daemon', claudeSessionId: 'own', parentSessionId: 'p' })
  t.notOk('codexThreadId' in session.metadata)
  t.match(listSessions(home.path), [{ notes: { tag: 'waited-for' } }])
  await archive(session.id)
  t.equal(await ended, 0)
})

t.test('an agent that dies ends its session with a failure, and the conversation is free again', async t => {
  const { phone, home, die, run } = await runHere(t)
  const ended = run({ resume: 'talk' })
  const session = await phone.session()
  t.throws(() => claimConversation(home.path, 'talk'), { message: /already open/ })
  t.equal(listSessions(home.path)[0]?.notes.knowsEdits, false, 'of what came before nothing is known')
  die()
  t.equal(await ended, 1)
  claimConversation(home.path, 'talk')()
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
})

/** Where no server listens. */
const away = 'http://127.0.0.1:1'

t.test('a session ends although what another one left behind cannot be delivered', async t => {
  const { server, phone, home, archive, run } = await runHere(t)
  const known = home.credentials(server.url)
  if (known) home.saveCredentials({ ...known, server: away })
  const metadata = { path: home.path, host: 'here', machineId: home.machineId }
  const other = { tag: 'left', server: away, key: toBase64(engine.randomBytes(32)), metadata, cursor: 0, turn: null }
  await leaveBehind(home.path, createSessionFolder(home.path, other), 'not delivered yet')
  const ended = run()
  await archive((await phone.session()).id)
  t.equal(await ended, 0)
  t.match(findLeftovers(home.path), [/left/])
})

t.test('an agent that does not start leaves the conversation free, and what it was to deliver', async t => {
  const { home, run, output } = await runHere(t)
  const start = () => Promise.reject(new Error('not installed'))
  await t.rejects(run({ resume: 'talk', kind: { flavor: 'acp', title: 'Own agent', program: { kind: 'demo' }, start } }), {
    message: 'not installed'
  })
  t.equal(output(), 'Starting Own agent …\n')
  claimConversation(home.path, 'talk')()
  t.same(listSessions(home.path), [])
})

t.test('a conversation that is open in Claude Code is not opened a second time', async t => {
  const { home, started, run } = await runHere(t, { flavor: 'claude' })
  const config = join(home.path, '..', 'claude')
  mkdirSync(join(config, 'sessions'), { recursive: true })
  writeFileSync(join(config, 'sessions', 'one.json'), JSON.stringify({ pid: process.pid, sessionId: 'talk' }))
  await t.rejects(run({ resume: 'talk', env: { CLAUDE_CONFIG_DIR: config } }), {
    message: `This conversation is open in Claude Code right now, as process ${process.pid}. Close it there first.`
  })
  t.same(started, [])
})

t.test('an ended session goes on with the conversation of its agent, and is no longer being started', async t => {
  const { folder, ...computer } = await computerWithSession(t)
  const { home: path, phone } = computer
  folder.note({ turn: null, metadata: { ...folder.notes.metadata, agentSessionId: 'talk' } })
  folder.retire()
  const [known] = listSessions(path)
  const earlier = known && reopen(known)
  if (!earlier) throw new Error('it is free')
  t.equal(earlier.notes.isStarting, true)
  const { started, run, archive } = await runHere(t, { computer })
  const ended = run({ earlier })
  const session = await phone.session()
  t.match(started, [{ resume: 'talk', isUnsent: false, sentUpTo: undefined }])
  t.match(earlier.notes, { isStarting: false, tag: 'left' })
  t.not(earlier.notes.knowsEdits, false)
  await archive(session.id)
  t.equal(await ended, 0)
})

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
