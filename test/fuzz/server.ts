import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

const root = join(import.meta.dirname, '../..')
const warnsOfOpenSignup = 'Anyone who can reach this server can create an account'
/** What must be answered is answered by then, also on a busy machine and behind everything that attackers sent before. */
export const answersWithinMs = 60_000
const metricsToken = 'the-token-of-the-fuzz'

/** The real server in a process of its own, watched for everything that must not happen. */
export interface Fuzzed {
  url: string
  port: number
  /** What it logged as an error, and anything that it said without the log. */
  complaints: string[]
  /** How it ended; undefined while it runs. */
  ended(): string | undefined
  /** Resident memory without what nothing lives in, in bytes. */
  memory(): Promise<number>
  /** SIGTERM; resolves with how it ended. */
  end(): Promise<string>
}

export async function startFuzzed(data: string, nodeArgs: readonly string[] = []): Promise<Fuzzed> {
  const serve = ['serve', '--data', data, '--port', '0', '--signup', 'open', '--limits', 'off', '--log-level', 'error', '--expo-url', 'off']
  const env = { ...process.env, NODE_OPTIONS: '', AFIELD_METRICS_TOKEN: metricsToken }
  const loaded = ['freeze.mjs', 'held-memory.mjs'].flatMap(file => ['--import', join(import.meta.dirname, file)])
  const args = ['--expose-gc', ...loaded, ...nodeArgs, 'bin/afield.ts', ...serve]
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const complaints: string[] = []
  createInterface({ input: pipeOf(child.stderr) }).on('line', line => {
    if (!line.startsWith(warnsOfOpenSignup)) complaints.push(line)
  })
  let end: string | undefined
  const exit = once(child, 'exit').then(([code, signal]) => {
    end = code === null ? `killed by ${signal}` : `exit code ${code}`
    return end
  })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: pipeOf(child.stdout) }).on('line', line => {
      const listening = /^afield listening on (\S+)$/.exec(line)?.[1]
      if (listening !== undefined) resolve(listening)
    })
    exit.then(how => reject(new Error(`The server did not start, ${how}: ${complaints.join('\n')}`)))
  })
  return {
    url,
    port: Number(new URL(url).port),
    complaints,
    ended: () => end,
    async memory() {
      const told = once(child, 'message')
      child.send('memory')
      const [bytes] = await told
      return bytes
    },
    end() {
      child.kill('SIGTERM')
      return exit
    }
  }
}

function pipeOf(stream: Readable | null): Readable {
  if (!stream) throw new Error('The server has no pipe.')
  return stream
}
