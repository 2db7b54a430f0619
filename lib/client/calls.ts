import type { Cipher } from '../crypto/envelopes.ts'
import type { ParamsOfCall, ResultOfCall, SessionCall } from '../protocol/sealed/calls.ts'
import type { LiveSocket } from './socket.ts'

/**
 * `not-connected`: this client has no link, nothing was sent. `away`: nobody answers for this session or machine now, nothing was done.
 * `no-answer`: it was sent, whether it took effect is unknown. `failed`: the other side says `message`. `unreadable`: the answer cannot be
 * opened or has a strange shape.
 */
export type CallFailure = 'not-connected' | 'away' | 'no-answer' | 'failed' | 'unreadable'

export declare class CallFailed extends Error {
  readonly reason: CallFailure
  constructor(reason: CallFailure, message: string)
}

/** Calls a method of a session. The server waits up to 15 s for a wrapper on its way back, and 30 s for its answer. Rejects with `CallFailed`. */
export declare function callSession<Name extends SessionCall>(
  socket: Pick<LiveSocket, 'request'>,
  cipher: Cipher,
  session: string,
  method: Name,
  params: ParamsOfCall<Name>
): Promise<ResultOfCall<Name>>

/** Any method of a session or machine, its result not looked at beyond `{ error }`. */
export declare function callMethod(
  socket: Pick<LiveSocket, 'request'>,
  cipher: Cipher,
  target: string,
  method: string,
  params: unknown
): Promise<unknown>

export type SessionHandlers = {
  [Name in SessionCall]?: (params: ParamsOfCall<Name>) => ResultOfCall<Name> | Promise<ResultOfCall<Name>>
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
   * False for sealed parameters seen before: the server, or who stole a token, replays an old call [R7]. Unless told, remembers them as
   * long as it serves.
   */
  isFresh?: ((sealedParams: string) => boolean | Promise<boolean>) | undefined
}

/** Answers the calls of one session. What a handler throws goes to the caller as its message. */
export declare function serveSession(options: ServeOptions & { session: string; handlers: SessionHandlers }): Serving

/** Answers any methods of a session or machine; the parameters come unchecked. */
export declare function serveCalls(
  options: ServeOptions & { target: string; handlers: Record<string, (params: unknown) => unknown> }
): Serving
