import * as z from 'zod'
import { fromBase64, toBase64 } from '../crypto/bytes.ts'
import type { Cipher } from '../crypto/envelopes.ts'
import { callError, type ParamsOfCall, type ResultOfCall, type SessionCall, sessionCalls } from '../protocol/sealed/calls.ts'
import { callFailures } from '../protocol/wire/failures.ts'
import type { DeviceId } from '../protocol/wire/ids.ts'
import { Unreachable } from './refusals.ts'
import type { Rest } from './rest.ts'
import type { LiveSocket } from './socket.ts'

/**
 * `not-connected`: this client has no link, nothing was sent. `away`: nobody answers for this session or machine now, nothing was done.
 * `no-answer`: it was sent, whether it took effect is unknown. `failed`: the other side says `message`. `unreadable`: the answer cannot be
 * opened or has a strange shape.
 */
export type CallFailure = 'not-connected' | 'away' | 'no-answer' | 'failed' | 'unreadable'

export class CallFailed extends Error {
  override name = 'CallFailed'
  readonly reason: CallFailure

  constructor(reason: CallFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

type Line = Pick<LiveSocket, 'request'>

/** Calls a method of a session. The server waits up to 15 s for a wrapper on its way back, and 30 s for its answer. Rejects with `CallFailed`. */
export async function callSession<Name extends SessionCall>(
  socket: Line,
  cipher: Cipher,
  session: string,
  method: Name,
  params: ParamsOfCall<Name>
): Promise<ResultOfCall<Name>> {
  // The table says which schema belongs to which method; a generic lookup loses that.
  return readResult(sessionCalls[method].result, await callMethod(socket, cipher, session, method, params)) as ResultOfCall<Name>
}

/** Rejects with `CallFailed` what is no such result. */
export function readResult<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new CallFailed('unreadable', 'The answer has an unknown shape.')
}

/** Any method of a session or machine, its result not looked at beyond `{ error }`; null when the handler returned nothing. */
export async function callMethod(socket: Line, cipher: Cipher, target: string, method: string, params: unknown): Promise<unknown> {
  const ack = await socket
    .request('rpc-call', { method: `${target}:${method}`, params: cipher.seal(params) }, { timeoutMs: answerWithinMs })
    .catch(error => {
      throw failureOf(error)
    })
  if (!ack.ok) throw new CallFailed(reasonOf(ack.error), ack.error)
  return openResult(cipher, ack.result)
}

/** As `callMethod`, for who has no socket, such as a service worker. Rejects with `CallFailed`, or with `Refused` when the server did not take the call. */
export async function postCall(
  rest: Pick<Rest, 'call'>,
  cipher: Cipher,
  target: string,
  method: string,
  params: unknown
): Promise<unknown> {
  const body = { method: `${target}:${method}`, params: cipher.seal(params) }
  const { result } = await rest.call('callMethod', { body }, { timeoutMs: answerWithinMs }).catch(error => {
    if (!(error instanceof Unreachable)) throw error
    throw new CallFailed(reasonOf(error.code), error.code ?? error.message, { cause: error })
  })
  return openResult(cipher, result)
}

function openResult(cipher: Cipher, result: string): unknown {
  const opened = cipher.open(result)
  if (!opened.ok) throw new CallFailed('unreadable', 'The answer was sealed with another key.')
  const said = callError.safeParse(opened.value)
  if (said.success) throw new CallFailed('failed', said.data.error)
  return opened.value
}

/** Longer than the server waits for both a handler and its answer. */
const answerWithinMs = 50_000
/** The server says these before it has passed a call on. */
const undoneFailures = new Set<string>([
  callFailures['not-available'],
  callFailures['same-connection'],
  callFailures['no-method'],
  callFailures['too-many']
])

function reasonOf(said: string | undefined): 'away' | 'no-answer' {
  return said !== undefined && undoneFailures.has(said) ? 'away' : 'no-answer'
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof Unreachable)) return error
  return new CallFailed(error.reason === 'not-connected' ? 'not-connected' : 'no-answer', error.message, { cause: error })
}

export type SessionHandlers = {
  [Name in SessionCall]?: (params: ParamsOfCall<Name>, ...call: CallFacts) => ResultOfCall<Name> | Promise<ResultOfCall<Name>>
}

/**
 * `by`: the device that called, as the server knows it: another device cannot take its place, the server could. `answered` resolves once
 * the answer was sent: what closes the line waits for it.
 */
export type CallFacts = [by?: DeviceId | undefined, answered?: Promise<void> | undefined]

type Handler = (params: unknown, ...call: CallFacts) => unknown

export interface Serving {
  /** Resolves when the server sends calls of all methods here. */
  readonly registered: Promise<void>
  stop(): void
}

export interface ServeOptions {
  socket: Pick<LiveSocket, 'answer'>
  cipher: Cipher
  /**
   * False for a nonce seen before: the server, or who stole a token, replays an old call [R7]. The same call has the same nonce however
   * its base64 is written. Unless told, remembers nonces as long as it serves.
   */
  isFresh?: ((nonce: string) => boolean | Promise<boolean>) | undefined
}

/** Answers the calls of one session. What a handler throws goes to the caller as its message. */
export function serveSession({ session, handlers, ...options }: ServeOptions & { session: string; handlers: SessionHandlers }): Serving {
  return serveCalls({ ...options, target: session, handlers: checkParams(sessionCalls, handlers) })
}

/** Handlers for calls whose parameters come unchecked, from those of a table. */
export function checkParams<Table extends Record<string, { params: z.ZodType }>>(
  table: Table,
  handlers: { [Name in keyof Table]?: ((params: z.output<Table[Name]['params']>, ...call: CallFacts) => unknown) | undefined }
): Record<string, Handler> {
  const checked: Record<string, Handler> = {}
  for (const [name, { params: schema }] of Object.entries(table)) {
    const handler = handlers[name]
    // Existing apps call some methods with no parameters at all. The table says which schema is of which handler; a walk over it
    // loses that.
    if (handler) checked[name] = (params, ...call) => handler(schema.parse(params ?? {}) as never, ...call)
  }
  return checked
}

/** Answers any methods of a session or machine; the parameters come unchecked. */
export function serveCalls({
  socket,
  cipher,
  target,
  handlers,
  isFresh = createMemory()
}: ServeOptions & { target: string; handlers: Record<string, Handler> }): Serving {
  const respond = async (handler: Handler, sealedParams: string, call: CallFacts): Promise<unknown> => {
    const params = cipher.open(sealedParams)
    if (!params.ok) return failure('The call was sealed with another key')
    if (!(await isFresh(nonceOf(sealedParams)))) return failure('The call was made before')
    return handler(params.value, ...call)
  }
  const answerings = Object.entries(handlers).map(([method, handler]) =>
    socket.answer(`${target}:${method}`, async (sealedParams, ...call) => {
      const result = await respond(handler, sealedParams, call).catch((error: unknown) => failure(sayWhy(error)))
      return cipher.seal(result)
    })
  )
  return {
    registered: Promise.all(answerings.map(({ registered }) => registered)).then(() => {}),
    stop() {
      for (const answering of answerings) answering.stop()
    }
  }
}

/** Of a start that failed, existing apps read the second form; of other calls the first. */
function failure(why: string) {
  return { error: why, type: 'error', errorMessage: why }
}

function sayWhy(error: unknown): string {
  if (error instanceof z.ZodError) return 'The parameters have an unknown shape'
  return error instanceof Error ? error.message : String(error)
}

/** Both formats begin with their nonce; what follows the shorter one cannot be changed without breaking the seal. */
function nonceOf(sealed: string): string {
  return toBase64((fromBase64(sealed) ?? new Uint8Array(0)).subarray(0, longestNonce))
}

const longestNonce = 24
const mostRemembered = 10_000

function createMemory(): (nonce: string) => boolean {
  const seen = new Set<string>()
  return nonce => {
    if (seen.has(nonce)) return false
    seen.add(nonce)
    const [oldest] = seen
    if (seen.size > mostRemembered && oldest !== undefined) seen.delete(oldest)
    return true
  }
}
