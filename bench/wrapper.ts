import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { spawn } from 'zigpty'
import { createServer } from '../lib/server/create.ts'
import { installFakeAdapter } from '../test/wrapper/kit/claude.ts'
import { linkedComputer } from '../test/wrapper/kit/world.ts'
import { median } from './kit/compare.ts'
import { cpuOf, memoryOf } from './kit/other-process.ts'

/**
 * The cost of the wrapper compared with the agent alone: milliseconds until the agent's screen accepts input, and the memory (PSS) of
 * Afield's own process then. AFIELD_PROGRAM measures a built program, otherwise it runs from its sources. CLAUDE_BIN and CLAUDE_CONFIG_DIR use a real Claude Code, otherwise a fake one.
 */
const rounds = 5
const takesInput = '\x1b[?2004h'
const fake = resolve('test/wrapper/agents/claude/fake-claude.mjs')

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
const { home } = await linkedComputer(t, server)
installFakeAdapter(home)
const claude = process.env['CLAUDE_BIN'] ?? fake
const env = {
  ...process.env,
  AFIELD_HOME: home,
  CLAUDE_CODE_EXECUTABLE: claude,
  CLAUDE_CONFIG_DIR: process.env['CLAUDE_CONFIG_DIR'] ?? join(folder, 'claude')
}
const [afield = '', ...before] = process.env['AFIELD_PROGRAM']?.split(' ') ?? [process.execPath, resolve('bin/afield.ts')]
const settings = join(folder, 'settings.json')
mkdirSync(join(folder, 'code'))
writeFileSync(settings, JSON.stringify({ hooks: {}, companyAnnouncements: [''] }))

const bare: number[] = []
const wrapped: number[] = []
const work: number[] = []
const memory: number[] = []
const anonymous: number[] = []
for (let round = 0; round < rounds; round++) {
  const id = crypto.randomUUID()
  bare.push((await start(claude, ['--settings', settings, '--session-id', id, '--permission-mode', 'default'])).ms)
  const { ms, cpuMs, megabytes, anonymousMegabytes } = await start(afield, [...before, 'claude'])
  wrapped.push(ms)
  work.push(cpuMs)
  memory.push(megabytes)
  anonymous.push(anonymousMegabytes)
}
const extra = median(wrapped.map((ms, round) => ms - (bare[round] ?? Number.NaN)))
console.log(`wrapper: start of ${claude === fake ? 'a fake Claude Code' : claude}, median of ${rounds}`)
console.log(
  `  until it takes input     alone ${median(bare).toFixed(0)} ms   with Afield ${median(wrapped).toFixed(0)} ms   on top ${extra.toFixed(0)} ms`
)
console.log(`  work of Afield itself    ${median(work).toFixed(0)} ms of processor time until then`)
console.log(
  `  memory of Afield itself  ${median(memory).toFixed(1)} MB (PSS), of which ${median(anonymous).toFixed(1)} MB are not pages of a file`
)
for (const close of closing) await close()
rmSync(folder, { recursive: true, force: true })
process.exit(0)

interface Start {
  ms: number
  cpuMs: number
  megabytes: number
  /** The anonymous part, which is not shared with other wrappers. */
  anonymousMegabytes: number
}

async function start(command: string, args: string[]): Promise<Start> {
  const began = performance.now()
  const pty = spawn(command, args, { cwd: join(folder, 'code'), env, encoding: null, cols: 100, rows: 30 })
  await new Promise<void>(resolve => {
    pty.onData(bytes => bytes.includes(takesInput) && resolve())
  })
  const ms = performance.now() - began
  const cpuMs = cpuOf(pty.pid)
  // Time to connect to the server, which happens in parallel with the agent.
  await new Promise(resolve => setTimeout(resolve, 1500))
  const megabytes = memoryOf(pty.pid, 'Pss')
  const anonymousMegabytes = memoryOf(pty.pid, 'Pss_Anon')
  pty.kill('SIGTERM')
  await pty.exited
  return { ms, cpuMs, megabytes, anonymousMegabytes }
}
