import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { createServer, type Server, type ServerSetup } from '../../lib/server/create.ts'
import { programFile } from './program.ts'

/** A real server in this process on a free port, closed when the test ends. Unexpected errors fail the test. */
export async function startServer(t: Test, options: ServerSetup = {}): Promise<Server & { data: string }> {
  const data = options.data ?? t.testdir()
  const server = await createServer({
    port: 0,
    signup: 'open',
    limits: 'off',
    logLevel: 'silent',
    expoUrl: 'off',
    onError: error => t.error(error, 'the server met nothing unexpected'),
    ...options,
    data
  })
  t.teardown(() => server.close())
  return Object.assign(server, { data })
}

export interface ServerProcess {
  url: string
  child: ChildProcess
  /** Like a power cut for the process: SIGKILL, waiting for its end. */
  kill(): Promise<void>
}

/** `afield serve` as a user runs it, in its own process that a test may kill. */
export async function startServerProcess(
  t: Pick<Test, 'teardown'>,
  {
    data,
    port,
    signup = 'open',
    limits = 'off',
    args = [],
    env = {}
  }: { data: string; port?: number; signup?: string; limits?: string; args?: string[]; env?: Record<string, string> }
): Promise<ServerProcess> {
  // The proofs of an installed program run journeys with it.
  const [program = process.execPath, ...words] = process.env['AFIELD_TEST_PROGRAM']?.split(' ') ?? [process.execPath, programFile(env)]
  const child = spawn(
    program,
    [...words, 'serve', '--data', data, '--port', String(port ?? (await portToKeep())), '--signup', signup, '--limits', limits, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } }
  )
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(kill)
  const complaints: string[] = []
  child.stderr.setEncoding('utf8').on('data', text => complaints.push(text))
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^afield listening on (\S+)$/.exec(line)?.[1]
    if (url === undefined) continue
    child.stdout.resume()
    return { url, child, kill }
  }
  throw new Error(`The server ended before it listened: ${complaints.join('')}`)
}

/**
 * A free port that a later server can reuse. Not one chosen by the system: those are opened without the option to
 * reuse them, and could be assigned to another program meanwhile.
 */
export async function portToKeep(): Promise<number> {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 20_000)
    const probe = createNetServer()
    const isFree = await new Promise<boolean>(resolve => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
