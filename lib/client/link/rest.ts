import { DeadlineExceeded, withDeadline } from '../../async/deadline.ts'
import { type JsonRouteName, type ReplyOf, type RouteName, routes } from '../../protocol/wire/routes.ts'
import * as v from '../../schema.ts'
import { Refused, Unreachable } from './refusals.ts'

/** The part of `fetch` used here; the global one and undici's both fit. */
export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string; signal: AbortSignal }
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>

/** Parts that the route does not need may be omitted. Query values are written as text. */
export type RequestOf<Name extends RouteName> = Part<'params', v.InferInput<(typeof routes)[Name]['params']>> &
  Part<'body', v.InferInput<(typeof routes)[Name]['body']>> & {
    query?: { [Field in keyof v.InferInput<(typeof routes)[Name]['query']>]?: string | number }
  }

type Part<Key extends string, Value> = [Record<string, never>] extends [Value] ? { [K in Key]?: Value } : { [K in Key]: Value }

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** 30 s by default. */
  timeoutMs?: number | undefined
}

export interface Rest {
  readonly server: string
  /**
   * One request of the route table, its reply validated with the schema of the route. Rejects with
   * `Refused`, with `Unreachable`, or with the reason of `signal`.
   */
  call<Name extends JsonRouteName>(name: Name, request: RequestOf<Name>, options?: CallOptions): Promise<ReplyOf<Name>>
}

interface RestOptions {
  /** Such as `https://home.example.org`, with or without a trailing slash. */
  server: string
  /** Required by every route except login and pairing. */
  token?: string | TokenSource | undefined
  fetch: Fetch
  /**
   * The live connection of this client, so that its own posts are not sent back to it: `() =>
   * socket.connectionId`.
   */
  connectionId?: (() => string | undefined) | undefined
}

/** A token that is renewed when necessary, see `keepToken`. */
export interface TokenSource {
  token(): Promise<string>
  /** A valid one in place of the one just rejected; the same if there is none. */
  renew(refused: string): Promise<string>
}

export function createRest({ server, token, fetch, connectionId }: RestOptions): Rest {
  const base = server.replace(/\/+$/, '')

  return {
    server: base,
    async call(name, request, { signal, timeoutMs = usualTimeoutMs } = {}) {
      const route = routes[name]
      const { params, query, body }: LooseRequest = request
      const url = base + fillPath(route.path, params) + writeQuery(query)
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      const askWith = (bearer: string | undefined) => {
        const connection = route.method === 'GET' ? undefined : connectionId?.()
        const headers = headersOf({ token: bearer, connection, hasBody: body !== undefined })
        return exchange(within => ask(fetch, url, { method: route.method, headers, ...text, signal: within }), { signal, timeoutMs })
      }
      const answer = await (typeof token === 'object' ? askRenewing(token, askWith) : askWith(token))
      // The table says which schema belongs to which name; a generic lookup loses that.
      return readReply(route.reply, answer) as ReplyOf<typeof name>
    }
  }
}

const usualTimeoutMs = 30_000

// The device's clock may be far off: what it considers valid may have expired.
async function askRenewing(source: TokenSource, askWith: (token: string) => Promise<Answer>): Promise<Answer> {
  const token = await source.token()
  const answer = await askWith(token)
  if (answer.status !== 401) return answer
  const renewed = await source.renew(token)
  return renewed === token ? answer : askWith(renewed)
}

interface LooseRequest {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

interface Answer {
  status: number
  text: string
  retryAfterMs: number | undefined
}

function fillPath(path: string, params: Record<string, unknown> = {}): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
}

function writeQuery(query: Record<string, unknown> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

function headersOf({ token, connection, hasBody }: { token: string | undefined; connection: string | undefined; hasBody: boolean }) {
  const headers: Record<string, string> = {}
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  if (connection !== undefined) headers['x-connection-id'] = connection
  if (hasBody) headers['content-type'] = 'application/json'
  return headers
}

/** Names every way of getting no answer; only the caller's own abort passes through. */
async function exchange(
  work: (signal: AbortSignal) => Promise<Answer>,
  { signal, timeoutMs }: { signal: AbortSignal | undefined; timeoutMs: number }
): Promise<Answer> {
  try {
    return await withDeadline(timeoutMs, work, { signal })
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    throw new Unreachable(cause instanceof DeadlineExceeded ? 'timeout' : 'network', { cause })
  }
}

async function ask(fetch: Fetch, url: string, init: Parameters<Fetch>[1]): Promise<Answer> {
  const response = await fetch(url, init)
  return {
    status: response.status,
    text: await response.text(),
    retryAfterMs: readRetryAfter(response.headers.get('retry-after'))
  }
}

function readReply(schema: v.GenericSchema, { status, text, retryAfterMs }: Answer): unknown {
  const json = v.jsonOf(text)
  if (status >= 500) throw new Unreachable('server-error', { status, code: v.safeParse(errorBody, json).data?.error, retryAfterMs })
  if (status >= 400) throw refusalOf(status, json, retryAfterMs)

  const reply = v.safeParse(schema, json)
  if (status < 200 || status > 299 || !reply.success)
    throw new Unreachable('strange-answer', { cause: reply.problem && new v.Misfit(reply.problem) })
  return reply.data
}

// A hotel's login page, or a proxy that lost its server, may answer instead. Only an error in our own
// format is final; but a proxy that rejects a body of this size, or asks to wait, is taken at its word.
function refusalOf(status: number, json: unknown, retryAfterMs: number | undefined): Refused | Unreachable {
  const said = v.safeParse(errorBody, json)
  if (said.success) return new Refused(status, said.data.error, retryAfterMs)
  if (status === 413) return new Refused(status, 'Payload Too Large')
  if (status === 429) return new Refused(status, 'Too Many Requests', retryAfterMs)
  return new Unreachable('strange-answer', { status })
}

const errorBody = v.object({ error: v.string() })

/** Seconds or a date. */
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
