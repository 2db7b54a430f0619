import { type Clock, systemClock } from '../../async/clock.ts'
import { rpcRegistered, rpcRequest } from '../../protocol/wire/events.ts'
import type { DeviceId } from '../../protocol/wire/ids.ts'
import * as v from '../../schema.ts'

/**
 * Called with the sealed parameters of a call, and the calling device as identified by the server;
 * resolves to its sealed result. It must not reject: see `serveCalls`. `answered` resolves once the
 * result was sent.
 */
export type CallHandler = (sealedParams: string, by?: DeviceId, answered?: Promise<void>) => Promise<string>

export interface Answering {
  /**
   * Resolves when the server routes calls of the method here for the first time. After that a
   * reconnect registers automatically.
   */
  readonly registered: Promise<void>
  stop(): void
}

/** The methods this client answers, sent to the server at each connect until it has confirmed them. */
interface CallAnswers {
  answer(method: string, handler: CallHandler): Answering
  /** The connection is live: registers everything on it. */
  connected(): void
  disconnected(): void
  /** Frames `rpc-registered` and `rpc-request`. */
  heardRegistered(frame: unknown): void
  heardRequest(frame: unknown, acknowledge: (result: unknown) => void): void
}

interface Entry {
  handler: CallHandler
  isConfirmed: boolean
  confirm(): void
}

/** `tell` sends an event over the current connection. */
export function createCallAnswers(
  tell: (event: 'rpc-register' | 'rpc-unregister', method: string) => void,
  clock: Clock = systemClock
): CallAnswers {
  const entryByMethod = new Map<string, Entry>()
  let isConnected = false
  let cancelReminder = () => {}

  function register(): void {
    cancelReminder()
    const open = [...entryByMethod].filter(([, entry]) => !entry.isConfirmed)
    if (!isConnected || open.length === 0) return
    for (const [method] of open) tell('rpc-register', method)
    cancelReminder = clock.after(confirmWithinMs, register)
  }

  return {
    answer(method, handler) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const entry: Entry = { handler, isConfirmed: false, confirm: resolve }
      entryByMethod.set(method, entry)
      register()
      return {
        registered: promise,
        stop() {
          if (entryByMethod.get(method) !== entry) return
          entryByMethod.delete(method)
          if (isConnected) tell('rpc-unregister', method)
        }
      }
    },
    connected() {
      isConnected = true
      for (const entry of entryByMethod.values()) entry.isConfirmed = false
      register()
    },
    disconnected() {
      isConnected = false
      cancelReminder()
    },
    heardRegistered(frame) {
      const registered = v.safeParse(rpcRegistered, frame)
      const entry = registered.success ? entryByMethod.get(registered.data.method) : undefined
      if (!entry) return
      entry.isConfirmed = true
      entry.confirm()
    },
    heardRequest(frame, acknowledge) {
      const { method = '', params, by } = v.safeParse(rpcRequest, frame).data ?? {}
      const entry = entryByMethod.get(method)
      // An answer that is not text ends the call at once; without one the caller would wait for the
      // timeout.
      if (!entry || typeof params !== 'string') return acknowledge(null)
      const { promise: answered, resolve } = Promise.withResolvers<void>()
      const answer = (result: string | null) => {
        acknowledge(result)
        resolve()
      }
      entry.handler(params, by, answered).then(answer, () => answer(null))
    }
  }
}

const confirmWithinMs = 10_000
