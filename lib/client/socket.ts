import type { z } from 'zod'
import type { Clock } from '../async/clock.ts'
import type { Ephemeral } from '../protocol/wire/ephemerals.ts'
import type { AckOf, ClientEvent, events } from '../protocol/wire/events.ts'
import type { Update } from '../protocol/wire/updates.ts'

/** What a connection sees and may answer: the whole account, one session or one machine. */
export type Scope = { as: 'app' } | { as: 'session'; id: string } | { as: 'machine'; id: string }

export type SocketState =
  | { type: 'connecting' }
  | { type: 'live'; connectionId: string }
  /** `nextTryAt` is wall-clock time in milliseconds, for the screen. */
  | { type: 'down'; reason: string; nextTryAt: number }
  /** The token is no longer good. Nothing is tried again until `reconnectNow`. */
  | { type: 'refused'; reason: string }
  | { type: 'closed' }

export type PayloadFor<Name extends ClientEvent> = z.input<(typeof events)[Name]['payload']>

/** Called with the sealed parameters of a call; resolves to its sealed result. It must not reject: see `serveCalls`. */
export type CallHandler = (sealedParams: string) => Promise<string>

export interface Answering {
  /** Resolves as soon as the server sends calls here, the first time and after each `stop` never again. */
  readonly registered: Promise<void>
  stop(): void
}

/** One connection to the server that comes back by itself. Listeners are called in the order of arrival and return their own removal. */
export interface LiveSocket {
  readonly state: SocketState
  /** Undefined while not live. */
  readonly connectionId: string | undefined
  /** Frames that fitted no schema and were dropped; kinds nobody knows yet are not counted. */
  readonly droppedFrames: number

  /** Called at every change, not with the state of now. */
  onState(listener: (state: SocketState) => void): () => void
  onUpdate(listener: (update: Update) => void): () => void
  onEphemeral(listener: (ephemeral: Ephemeral) => void): () => void

  /** Sends an event and waits for its acknowledgement (30 s unless told). Rejects with `Unreachable` at once when not live. */
  request<Name extends ClientEvent>(event: Name, payload: PayloadFor<Name>, options?: { timeoutMs?: number }): Promise<AckOf<Name>>
  /** False when not live: then nothing was sent and nothing will be. `volatile` also drops the event when the line is busy. */
  send<Name extends ClientEvent>(event: Name, payload: PayloadFor<Name>, options?: { volatile?: boolean }): boolean
  /** Answers calls of `<session or machine id>:<method>` from now on, over every reconnect. */
  answer(method: string, handler: CallHandler): Answering

  /**
   * For `online`, `visibilitychange` and "Try now": while down it tries at once; while live it asks the server for a sign of life and
   * starts over when none comes within 5 s.
   */
  reconnectNow(): void
  close(): void
}

export interface SocketOptions {
  server: string
  token: string
  scope: Scope
  /** Asked at each connect. While it runs, tell changes with `send('app-state', { state })`. */
  appState?: (() => 'active' | 'background') | undefined
  clock?: Clock | undefined
  /** Numbers from 0 up to 1, for the jitter. */
  random?: (() => number) | undefined
}

/** Opens at once; never throws and never rejects: see `state`. */
export declare function openSocket(options: SocketOptions): LiveSocket
