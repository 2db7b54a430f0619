import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { createServer } from '../lib/server/create.ts'
import { listSessions } from '../lib/wrapper/home/session-folder.ts'
import { linkedComputer } from '../test/wrapper/kit/world.ts'
import { cpuOf, memoryOf } from './kit/other-process.ts'

/**
 * The cost of a session started from a phone: the memory of each of its processes beside a bare Node.js, a breakdown of the wrapper's,
 * and the processor time of the wrapper per message of its agent. AFIELD_PROGRAM measures a built program, otherwise it runs from its
 * sources; with CLAUDE_BIN and CLAUDE_ADAPTER also the memory of a session with the real Claude Code.
 */
const messages = 2_000
const settleMs = 6_000
const { AFIELD_PROGRAM, CLAUDE_BIN, CLAUDE_ADAPTER, NODE_OPTIONS = '', PATH = '' } = process.env

const closing: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => void closing.unshift(close) }
const folder = mkdtempSync(join(tmpdir(), 'afield-bench-'))
const server = await createServer({
  port: 0,
  signup: 'open',
  limits: 'off',
  logLevel: 'silent',
  expoUrl: 'off',
  data: join(folder, 'data')
})
t.teardown(() => server.close())
const { home, phone } = await linkedComputer(t, server)
const [code, programs] = [join(folder, 'code'), join(folder, 'bin')]
for (const each of [code, programs]) mkdirSync(each)
symlinkSync(resolve('bench/kit/speaking-agent.mjs'), join(programs, 'gemini'))
if (CLAUDE_BIN) symlinkSync(CLAUDE_BIN, join(programs, 'claude'))
if (CLAUDE_ADAPTER) symlinkSync(CLAUDE_ADAPTER, join(home, 'agents'))
writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [code] }), { mode: 0o600 })
const env = {
  ...process.env,
  ...(CLAUDE_BIN && claudeAlone(CLAUDE_BIN)),
  AFIELD_HOME: home,
  NODE_OPTIONS: `${NODE_OPTIONS} --import=${resolve('bench/kit/probe.mjs')}`,
  PROBE_FOLDER: folder,
  PATH: `${programs}${delimiter}${PATH}`
}
const [afield = '', ...before] = AFIELD_PROGRAM?.split(' ') ?? [process.execPath, resolve('bin/afield.ts')]

const bare = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { env, stdio: 'ignore' })
t.teardown(() => bare.kill('SIGKILL'))
// Node.js saves its compile cache when a process ends: the first ones are not measured.
await endBoth(await startBoth())
const { daemon, wrapper, session } = await startBoth()
await pause(settleMs)

console.log('remote: a session that a phone began, with an agent without any library')
const alone = show('bare Node.js', bare.pid)
show('its agent', childOf(wrapper))
show('the daemon', daemon.pid)
show('its wrapper', wrapper, alone)
await showMakings('  of bare Node.js', bare.pid ?? 0)
if (!AFIELD_PROGRAM) await showMakings('  of its wrapper', wrapper)
await say('words', messages / 4)
console.log(
  `  processor time of the wrapper   message ${(await say('words', messages)).toFixed(2)} ms   piece of text ${(await say('pieces', messages)).toFixed(2)} ms`
)
await pause(settleMs)
show('its wrapper, later', wrapper, alone)
if (CLAUDE_BIN && CLAUDE_ADAPTER) {
  const claude = await begin('claude')
  await pause(settleMs)
  show('wrapper of Claude', claude.wrapper, alone)
  show('its adapter', childOf(claude.wrapper), alone)
}
for (const close of closing) await close()
rmSync(folder, { recursive: true, force: true })
process.exit(0)

/** Signed in with a new key, in its own folder. */
function claudeAlone(program: string): Record<string, string> {
  const config = join(folder, 'claude')
  mkdirSync(config)
  const key = `sk-ant-fake-${'0'.repeat(40)}`
  const known = { hasCompletedOnboarding: true, customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] } }
  writeFileSync(join(config, '.claude.json'), JSON.stringify(known))
  return {
    CLAUDE_CODE_EXECUTABLE: program,
    CLAUDE_CONFIG_DIR: config,
    HOME: folder,
    IS_SANDBOX: '',
    ANTHROPIC_API_KEY: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1'
  }
}

async function startBoth() {
  const daemon = spawn(afield, [...before, 'daemon', 'run'], { env, stdio: 'ignore' })
  t.teardown(() => daemon.kill('SIGKILL'))
  const machine = await phone.machine()
  await machine.until(async () => (await machine.state())?.pid === daemon.pid)
  return { daemon, ...(await begin('gemini')) }
}

async function begin(agent: string) {
  const known = (await phone.sessions()).map(({ id }) => id)
  const started = await (await phone.machine()).call('spawn-happy-session', { directory: code, agent })
  if (!JSON.stringify(started).includes('success')) throw new Error(JSON.stringify(started))
  const session = await phone.session(known)
  const wrapper = listSessions(home).find(({ notes }) => notes.id === session.id)?.pid ?? 0
  return { session, wrapper }
}

async function endBoth({ daemon, wrapper, session }: { daemon: ChildProcess; wrapper: number; session: { close(): void } }): Promise<void> {
  await pause(settleMs)
  process.kill(wrapper, 'SIGTERM')
  while (existsSync(`/proc/${wrapper}`)) await pause(50)
  daemon.kill('SIGTERM')
  await once(daemon, 'exit')
  session.close()
}

/** Its private memory. */
function show(name: string, pid = 0, alone?: number): number {
  const own = memoryOf(pid, 'Private_Dirty') + memoryOf(pid, 'Private_Clean')
  const ratio = alone === undefined ? '' : `   ${(own - alone).toFixed(1)} MB more than bare Node.js, ${(own / alone).toFixed(1)} times`
  console.log(
    `  ${name.padEnd(20)} ${memoryOf(pid, 'Pss').toFixed(1).padStart(6)} MB (PSS)   private ${own.toFixed(1).padStart(6)} MB${ratio}`
  )
  return own
}

async function showMakings(name: string, pid: number): Promise<void> {
  const file = join(folder, `${pid}.json`)
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(file)) await pause(20)
  const made: Record<string, number> = JSON.parse(readFileSync(file, 'utf8'))
  const parts = Object.entries(made).map(([part, bytes]) => `${part} ${(bytes / 2 ** 20).toFixed(1)}`)
  console.log(`${name.padEnd(22)} ${parts.join('   ')}`)
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])
}

/** Milliseconds of the wrapper's processor time per item, in their own turn. */
async function say(what: 'words' | 'pieces', count: number): Promise<number> {
  const turnsEnded = () => session.messages.filter(({ role }) => role === 'agent').length
  const [was, began] = [turnsEnded(), cpuOf(wrapper)]
  await session.say(`${what} ${count}`)
  await session.until(() => turnsEnded() > was)
  return (cpuOf(wrapper) - began) / count
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
