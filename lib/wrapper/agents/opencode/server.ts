import { randomBytes } from 'node:crypto'
import { Agent, fetch } from 'undici'
import { withDeadline } from '../../../async/deadline.ts'
import * as v from '../../../schema.ts'
import { type AgentProcess, startProcess } from '../process.ts'
import { NotShared, Refused } from './refusals.ts'
import { type ServerEvent, serverEvent } from './shapes.ts'

/** Our own opencode server on loopback, accessible only with its password. It never outlives this process. */
export interface OpencodeServer {
  readonly url: string
  readonly password: string
  readonly version: string
  /** How it ended, in words for a person. */
  readonly ended: Promise<string>
  lastLines(): string
  get<Shape extends v.GenericSchema>(path: string, shape: Shape): Promise<v.InferOutput<Shape>>
  send(method: 'POST' | 'DELETE', path: string, body?: object): Promise<unknown>
  /**
   * Every event from now on; `onOpen` is called once none can be missed any more. Resolves when the
   * connection is cut.
   */
  listen(onEvent: (event: ServerEvent) => void, onOpen: () => void): Promise<void>
  end(): Promise<void>
}

interface StartServer {
  program: string
  directory: string
  env: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
}

/** Throws NotShared if we do not know how to share it. */
export async function startServer({ program, directory, env, signal }: StartServer): Promise<OpencodeServer> {
  const password = randomBytes(24).toString('base64url')
  const { OPENCODE_SERVER_USERNAME: _, ...rest } = env
  const child = await startProcess({
    ...guarded(program, ['serve', '--hostname', '127.0.0.1', '--port', '0']),
    directory,
    env: { ...rest, OPENCODE_SERVER_PASSWORD: password }
  })
  try {
    const url = await withDeadline(startWithinMs, () => Promise.race([addressOf(child.output), died(child)]), { signal })
    const server = connect(child, url, password)
    return { ...server, version: await checkedVersion(server, url) }
  } catch (error) {
    await child.end(0)
    if (error instanceof Error && error.name === 'DeadlineExceeded') throw new NotShared('Its server did not start in time.')
    throw error
  }
}

// A first start may fetch what its plugins need.
const startWithinMs = 60_000
const answerWithinMs = 30_000

/**
 * By itself, a server would not notice our death. A shell waits for that, and for the server; all its
 * children are in the same process group.
 */
function guarded(program: string, args: readonly string[]): { command: string; args: string[] } {
  if (process.platform === 'win32') return { command: program, args: [...args] }
  return { command: '/bin/sh', args: ['-c', guard, 'opencode', program, ...args] }
}

const guard = `exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{ while read -r line; do :; done; kill -TERM $server; sleep 2; kill -KILL 0; } <&3 >/dev/null 2>&1 &
exec 3<&-
wait $server`

async function died(child: AgentProcess): Promise<never> {
  const how = await child.ended
  const last = child.lastLines().split('\n').at(-1)?.trim()
  throw new NotShared(`Its server exited before it was ready (${how})${last ? `: ${last}` : '.'}`)
}

async function addressOf(output: ReadableStream<Uint8Array>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  void (async () => {
    let said = ''
    for await (const text of output.pipeThrough(new TextDecoderStream())) {
      said = (said + text).slice(-4096)
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
      if (url) resolve(url)
    }
  })().catch(reject)
  return promise
}

type Unchecked = Omit<OpencodeServer, 'version'>

/** A server open to everyone on this computer is not used. */
async function checkedVersion(server: Unchecked, url: string): Promise<string> {
  const stranger = await fetch(`${url}/session`, { signal: AbortSignal.timeout(answerWithinMs) })
  await stranger.body?.cancel()
  if (stranger.status !== 401) throw new NotShared('Its server requires no password.')
  try {
    const { version } = await server.get('/global/health', v.looseObject({ version: v.string() }))
    return version
  } catch {
    throw new NotShared('Its server does not report its version.')
  }
}

function connect(child: AgentProcess, url: string, password: string): Unchecked {
  // Its events and some of its answers take as long as a turn.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const headers = { authorization: `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`, 'content-type': 'application/json' }

  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(url + path, { method, headers, dispatcher, ...(body && { body: JSON.stringify(body) }) })
    const text = await response.text()
    const value = text === '' ? undefined : v.jsonOf(text)
    if (!response.ok) throw new Refused(response.status, sentenceOf(value) ?? `opencode answered ${response.status}.`)
    return value
  }

  return {
    url,
    password,
    ended: child.ended,
    lastLines: () => child.lastLines(),
    get: async (path, shape) => v.parse(shape, await call('GET', path)),
    send: call,
    async listen(onEvent, onOpen) {
      const { body } = await fetch(`${url}/event`, { headers, dispatcher })
      if (!body) return
      for await (const value of eventsIn(body)) {
        const { data } = v.safeParse(serverEvent, value)
        if (data?.type === 'server.connected') onOpen()
        else if (data) onEvent(data)
      }
    },
    async end() {
      await child.end()
      await dispatcher.destroy()
    }
  }
}

async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data:')) yield v.jsonOf(line.slice('data:'.length))
  }
}

const refusal = v.looseObject({ data: v.looseObject({ message: v.string() }) })

function sentenceOf(value: unknown): string | undefined {
  return v.safeParse(refusal, value).data?.data.message
}
