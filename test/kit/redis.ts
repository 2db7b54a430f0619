import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { portToKeep } from './port.ts'
import { runAtEnd } from './watcher.ts'

/** A real Redis on a free port, with nothing on disk. */
export interface Redis {
  readonly port: number
  /** The address of one of its databases, which nobody else uses. */
  url(): string
  /** What `redis-cli` prints. */
  ask(...command: string[]): Promise<string>
  /** Ends it at once, as `kill -9` does. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  start(): Promise<void>
  /** It answers nothing, and its connections stay open. */
  pause(): void
  resume(): void
}

/**
 * Started for a test, which ends it. `more` are lines of its configuration. In a group of its own, Ctrl-C reaches only the
 * program that started it.
 */
export async function startRedis(
  t: { teardown(run: () => unknown): unknown },
  more: Record<string, string> = {},
  { inOwnGroup = false } = {}
): Promise<Redis> {
  const folder = mkdtempSync(join(tmpdir(), 'afield-redis-'))
  const port = await portToKeep()
  const isTls = more['tls-port'] !== undefined
  const ports = isTls ? { port: '0', 'tls-port': `${port}` } : { port: `${port}` }
  const lines = {
    ...more,
    ...ports,
    bind: '127.0.0.1',
    dir: folder,
    pidfile: join(folder, 'pid'),
    save: '',
    appendonly: 'no',
    databases: '10000'
  }
  const args = Object.entries(lines).flatMap(([name, value]) => [`--${name}`, ...(value === '' ? [''] : value.split(' '))])
  let child: ChildProcess | undefined
  let databases = 0

  const redis: Redis = {
    port,
    url() {
      databases += 1
      return `redis://127.0.0.1:${port}/${databases}`
    },
    async ask(...command) {
      const { stdout } = await promisify(execFile)('redis-cli', ['-h', '127.0.0.1', '-p', `${port}`, ...command])
      return stdout.trim()
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'close')
    },
    async start() {
      child = await startServer(args, inOwnGroup)
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT')
  }
  const { run: end } = runAtEnd(ending, [folder])
  t.teardown(async () => {
    await redis.kill()
    await end()
  })
  await redis.start()
  return redis
}

// One that was killed leaves its number behind, which may be another program's by now.
const ending = `
pid=$(cat "$0/pid") && [ "$(readlink "/proc/$pid/cwd")" = "$0" ] && kill -9 "$pid"
rm -rf "$0"`

async function startServer(args: string[], detached: boolean): Promise<ChildProcess> {
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'], detached })
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  let said = ''
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', text => {
      said += text
      if (said.includes('Ready to accept connections')) resolve()
    })
  }
  child.once('error', reject)
  child.once('close', () => reject(new Error(`redis-server ended: ${said}`)))
  await ready
  return child
}
