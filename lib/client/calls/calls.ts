import type { Cipher } from '../../crypto/envelopes.ts'
import {
  callError,
  choiceIn,
  methodsOfHappy,
  type ParamsOfCall,
  type ResultOfCall,
  type SessionCall,
  sessionCalls
} from '../../protocol/sealed/calls/calls.ts'
import type { SealedFor } from '../../protocol/sealed/sealed-for.ts'
import { callFailures } from '../../protocol/wire/failures.ts'
import type { DeviceId } from '../../protocol/wire/ids.ts'
import * as v from '../../schema.ts'
import { Unreachable } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'
import type { LiveSocket } from '../link/socket.ts'
import {
  type CallParams,
  type OpenedCall,
  openCall,
  openCallAnswer,
  type PeerCipher,
  type Pin,
  sealAnswer,
  sealCall
} from '../sealed/call-seals.ts'
import { newId } from '../sealed/messages.ts'
import { nonceOf } from '../sealed/nonces.ts'
import { createLatestCalls } from './latest-calls.ts'

/**
 * `not-connected`: this client has no link, nothing was sent. `away`: nobody answers for this session
 * or machine now, nothing was done. `no-answer`: it was sent, and whether it took effect is unknown.
 * `failed`: the other side returned the error `message`. `unreadable`: the answer cannot be decrypted
 * or has an unknown shape. `astray`: it was sealed as the answer to another call, or no longer says
 * which call it answers.
 */
export type CallFailureReason = 'not-connected' | 'away' | 'no-answer' | 'failed' | 'unreadable' | 'astray'

export class CallFailed extends Error {
  override name = 'CallFailed'
  readonly reason: CallFailureReason

  constructor(reason: CallFailureReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

type Line = Pick<LiveSocket, 'request'>

/**
 * Calls a method of a session. The server waits up to 15 s for a wrapper that is reconnecting, and 30
 * s for its answer. Rejects with `CallFailed`.
 */
export async function callSession<Name extends SessionCall>(
  socket: Line,
  cipher: PeerCipher,
  session: string,
  method: Name,
  params: ParamsOfCall<Name>
): Promise<ResultOfCall<Name>> {
  // The table says which schema belongs to which method; a generic lookup loses that.
  return readResult(sessionCalls[method].result, await callMethod(socket, cipher, session, method, params)) as ResultOfCall<Name>
}

/** Rejects with `CallFailed` if the result does not fit. */
export function readResult<Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value)
  if (result.success) return result.data
  throw new CallFailed('unreadable', 'The answer has an unknown shape.')
}

/**
 * Calls any method of a session or machine, without checking its result beyond `{ error }`; null when
 * the handler returned nothing. The call says what it is for, and its answer has to say the same.
 */
export async function callMethod(socket: Line, cipher: PeerCipher, target: string, method: string, params: CallParams): Promise<unknown> {
  const name = nameCall(target, method)
  const ack = await socket
    .request('rpc-call', { method: `${target}:${method}`, params: sealCall(cipher, name, params) }, { timeoutMs: answerWithinMs })
    .catch(error => {
      throw failureOf(error)
    })
  if (!ack.ok) throw new CallFailed(reasonOf(ack.error), ack.error)
  return readAnswer(cipher, ack.result, name)
}

/**
 * Like `callMethod`, for callers without a socket, such as a service worker. Rejects with
 * `CallFailed`, or with `Refused` when the server rejected the call.
 */
export async function postCall(
  rest: Pick<Rest, 'call'>,
  cipher: PeerCipher,
  target: string,
  method: string,
  params: CallParams
): Promise<unknown> {
  const name = nameCall(target, method)
  const body = { method: `${target}:${method}`, params: sealCall(cipher, name, params) }
  const { result } = await rest.call('callMethod', { body }, { timeoutMs: answerWithinMs }).catch(error => {
    if (!(error instanceof Unreachable)) throw error
    throw new CallFailed(reasonOf(error.code), error.code ?? error.message, { cause: error })
  })
  return readAnswer(cipher, result, name)
}

/** A caller is one process or page: no other has its numbers, even after a backup was restored. */
function nameCall(target: string, method: string): Omit<SealedFor, 'type'> {
  sender ??= newId()
  calls += 1
  return { target, method, call: newId(), by: { sender, number: calls } }
}

let sender: string | undefined
let calls = 0

function readAnswer(cipher: PeerCipher, sealed: string, name: Parameters<typeof openCallAnswer>[2]): unknown {
  const opened = openCallAnswer(cipher, sealed, name)
  if (opened.type === 'unreadable') throw new CallFailed('unreadable', 'The answer was encrypted with another key.')
  if (opened.type === 'astray') throw new CallFailed('astray', 'This is not the answer to this call.')
  const said = v.safeParse(callError, opened.result)
  if (said.success) throw new CallFailed('failed', said.data.error)
  return opened.result
}

/** Longer than the server waits for both a handler and its answer. */
const answerWithinMs = 50_000
/** The server answers these before it has forwarded a call. */
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
 * `by`: the device that called, as identified by the server: another device cannot impersonate it, but
 * the server could. `answered` resolves once the answer was sent: closing the connection waits for it.
 */
export type CallFacts = [by?: DeviceId | undefined, answered?: Promise<void> | undefined]

interface Handler {
  (params: unknown, ...call: CallFacts): unknown
  /** False if it was not sealed as a call of this method, although it has no name. */
  mayBe?: (params: unknown) => boolean
}

export interface Serving {
  /** Resolves when the server sends calls of all methods here. */
  readonly registered: Promise<void>
  stop(): void
}

export interface ServeOptions {
  socket: Pick<LiveSocket, 'answer'>
  cipher: Cipher
  /**
   * False for a nonce seen before: the server, or someone with a stolen token, replays an old call
   * [R7]. The same call has the same nonce in every base64 encoding. By default, remembers nonces
   * while it serves.
   */
  isFresh?: ((nonce: string) => boolean | Promise<boolean>) | undefined
  /**
   * False if this number or a later one was already accepted for the same choice of the same caller.
   * By default, remembers like `isFresh`.
   */
  isLatest?: ((choice: string, number: number) => boolean) | undefined
  /**
   * Whether an app of ours has called: from then on a method that only ours know is not accepted
   * without a name.
   */
  pin?: Pin | undefined
  /** A call was rejected that no client would have sent: someone in between changed or replayed it. */
  onForged?: ((forgery: Forgery) => void) | undefined
}

/**
 * `astray`: it was sealed as another call. `repeated`: it was made before. `nameless`: our apps would
 * have named it. `late`: its caller has made a later choice since.
 */
export interface Forgery {
  readonly why: 'astray' | 'repeated' | 'nameless' | 'late'
  readonly method: string
}

/** Answers the calls of one session. Errors thrown by a handler go to the caller as their message. */
export function serveSession({ session, handlers, ...options }: ServeOptions & { session: string; handlers: SessionHandlers }): Serving {
  return serveCalls({ ...options, target: session, handlers: checkParams(sessionCalls, handlers) })
}

/** Converts handlers from a table into ones for unchecked parameters. */
export function checkParams<Table extends Record<string, { params: v.GenericSchema }>>(
  table: Table,
  handlers: { [Name in keyof Table]?: ((params: v.InferOutput<Table[Name]['params']>, ...call: CallFacts) => unknown) | undefined }
): Record<string, Handler> {
  const checked: Record<string, Handler> = {}
  for (const [name, { params: schema }] of Object.entries(table)) {
    const handler = handlers[name]
    if (!handler) continue
    // Existing apps call some methods without any parameters. The table says which schema belongs to which
    // handler; iterating over it loses that.
    checked[name] = (params, ...call) => handler(v.parse(schema, params ?? {}) as never, ...call)
    checked[name].mayBe = params => mayBeCall(schema, params)
  }
  return checked
}

/**
 * False for text that cannot have been sealed as a call of a method without parameters: any sealed
 * text would do as one, so a nameless one may contain nothing that the method does not know.
 */
function mayBeCall(schema: v.GenericSchema, params: unknown): boolean {
  const fields = 'entries' in schema && typeof schema.entries === 'object' && schema.entries
  if (!fields || !v.safeParse(schema, {}).success) return true
  const { data } = v.safeParse(v.record(v.string(), v.unknown()), params ?? {})
  return data !== undefined && Object.keys(data).every(key => Object.hasOwn(fields, key))
}

/** Answers any methods of a session or machine; the parameters come unchecked. */
export function serveCalls({
  socket,
  cipher,
  target,
  handlers,
  isFresh = createMemory(),
  isLatest = createLatestCalls().take,
  pin,
  onForged = () => {}
}: ServeOptions & { target: string; handlers: Record<string, Handler> }): Serving {
  const isOvertaken = ({ name: { method, by }, params }: Extract<OpenedCall, { type: 'named' }>) => {
    const choice = choiceIn(method, params)
    return by !== undefined && choice !== undefined && !isLatest(`${by.sender} ${choice}`, by.number)
  }
  const respond = async (method: string, handler: Handler, sealedParams: string, facts: CallFacts): Promise<string> => {
    const call = openCall(cipher, sealedParams, { target, method })
    const name = call.type === 'named' || call.type === 'astray' ? call.name : undefined
    const refuse = (why: Forgery['why']) => {
      onForged({ why, method })
      return sealAnswer(cipher, name, failure(refusals[why]))
    }
    if (call.type === 'unreadable') return cipher.seal(failure('The call was encrypted with another key'))
    if (call.type === 'astray') return refuse('astray')
    if (call.type === 'nameless' && pin?.isSet && !methodsOfHappy.has(method)) return refuse('nameless')
    if (call.type === 'nameless' && handler.mayBe?.(call.params) === false) return refuse('astray')
    try {
      if (!(await isFresh(nonceOf(sealedParams)))) return refuse('repeated')
      if (call.type === 'named') pin?.set()
      if (call.type === 'named' && isOvertaken(call)) return refuse('late')
      return sealAnswer(cipher, name, await handler(call.params, ...facts))
    } catch (error) {
      return sealAnswer(cipher, name, failure(sayWhy(error)))
    }
  }
  const answerings = Object.entries(handlers).map(([method, handler]) =>
    socket.answer(`${target}:${method}`, (sealedParams, ...facts) => respond(method, handler, sealedParams, facts))
  )
  return {
    registered: Promise.all(answerings.map(({ registered }) => registered)).then(() => {}),
    stop() {
      for (const answering of answerings) answering.stop()
    }
  }
}

const refusals: Record<Forgery['why'], string> = {
  astray: 'The call was made for a different target',
  repeated: 'The call repeats an earlier one',
  nameless: 'The call does not name its target, unlike other calls of this app',
  late: 'The same device has made a newer choice'
}

/** Existing apps read the second form for a failed start, and the first for other calls. */
function failure(why: string) {
  return { error: why, type: 'error', errorMessage: why }
}

function sayWhy(error: unknown): string {
  if (error instanceof v.Misfit) return 'The parameters have an unknown shape'
  return error instanceof Error ? error.message : String(error)
}

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
