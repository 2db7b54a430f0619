import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { createServer, type Server, type ServerSetup } from '../../lib/server/create.ts'
import { portToKeep } from './port.ts'
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
  /** Its data directory. */
  data: string
  child: ChildProcess
  /** Like a power cut for the process: SIGKILL, waiting for its end. */
  kill(): Promise<void>
}

interface ServeOptions {
  data?: string
  port?: number
  signup?: string
  limits?: string
  args?: string[]
  env?: Record<string, string>
}

/**
 * `afield serve` as a user runs it, in its own process that a test may kill. Its data is in the test's folder unless
 * `data` names another: a script has no such folder, and a restarted server goes on with the data of the first.
 */
export async function startServerProcess(t: Pick<Test, 'teardown'>, options: ServeOptions & { data: string }): Promise<ServerProcess>
export async function startServerProcess(t: Pick<Test, 'teardown' | 'testdir'>, options?: ServeOptions): Promise<ServerProcess>
export async function startServerProcess(
  t: Pick<Test, 'teardown'> & Partial<Pick<Test, 'testdir'>>,
  { data = (t as Test).testdir(), port, signup = 'open', limits = 'off', args = [], env = {} }: ServeOptions = {}
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
    return { url, data, child, kill }
  }
  throw new Error(`The server ended before it listened: ${complaints.join('')}`)
}
