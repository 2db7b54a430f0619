import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { programFile } from '../kit/program.ts'

/** The real server in a process of its own, which this harness kills. */
export interface Victim {
  url: string
  /** Resolves with how it ended. */
  ended: Promise<{ code: number | null; signal: string | null }>
  /** SIGKILL to it and everything it was started through; resolves when it is gone. */
  kill(): Promise<void>
  /** SIGTERM, as a service manager sends it; resolves when it is gone. */
  drain(): Promise<void>
}

export interface VictimOptions {
  data: string
  /** Arguments for Node.js itself, such as a preload that spoils a promise on purpose. */
  nodeArgs?: readonly string[]
  /** More options of the server. */
  args?: readonly string[]
  /** The program with its arguments, if it is another. What is loaded into it with `nodeArgs` changes its sources. */
  program?: readonly string[]
  /** A program and its arguments that starts and watches the server. */
  through?: readonly string[]
}

/** Resolves when the server listens, or with undefined when it ended before it did. */
export async function startVictim({
  data,
  nodeArgs = [],
  args: more = [],
  program = [process.execPath, ...nodeArgs, nodeArgs.length === 0 ? programFile() : 'bin/afield.ts'],
  through = []
}: VictimOptions): Promise<Victim | undefined> {
  const serve = ['serve', '--data', data, '--port', '0', '--signup', 'open', '--limits', 'off', ...more]
  // Without the preloads that the test runner puts into every child: the server of a person has none.
  const [first = 'env', ...args] = [...through, 'env', '-u', 'NODE_OPTIONS', ...program, ...serve]
  // In a group of its own, so that a signal reaches the server itself through whatever watches it.
  const child = spawn(first, args, {
    cwd: `${import.meta.dirname}/../..`,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true
  })
  const complaints: string[] = []
  child.stderr.setEncoding('utf8').on('data', text => complaints.push(text))
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  const url = await listeningUrl(child)
  if (url === undefined) {
    const { code } = await ended
    if (code !== null && through.length === 0) throw new Error(`The server ended with ${code} before it listened: ${complaints.join('')}`)
    return undefined
  }
  return {
    url,
    ended,
    async kill() {
      signalGroup(child, 'SIGKILL')
      await ended
      await isGone(child)
    },
    async drain() {
      signalGroup(child, 'SIGTERM')
      await ended
    }
  }
}

async function listeningUrl({ stdout }: ChildProcess): Promise<string | undefined> {
  if (!stdout) return undefined
  for await (const line of createInterface({ input: stdout })) {
    const url = /^afield listening on (\S+)$/.exec(line)?.[1]
    if (url === undefined) continue
    stdout.resume()
    return url
  }
  return undefined
}

/** What was watched may be gone a moment after whatever watched it, and holds its files until then. */
async function isGone({ pid }: ChildProcess): Promise<void> {
  for (let looked = 0; looked < 200; looked += 1) {
    try {
      if (pid === undefined) return
      process.kill(-pid, 0)
    } catch {
      return
    }
    await pause(10)
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // It has ended by itself.
  }
}
