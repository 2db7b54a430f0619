import { createBackoff } from '../../async/backoff.ts'
import { type Clock, systemClock } from '../../async/clock.ts'
import type { Ephemeral } from '../../protocol/wire/ephemerals.ts'
import { type AckOf, type ClientEvent, events } from '../../protocol/wire/events.ts'
import { socketPath } from '../../protocol/wire/handshake.ts'
import type { Update } from '../../protocol/wire/updates.ts'
import * as v from '../../schema.ts'
import { type Answering, type CallHandler, createCallAnswers } from './answers.ts'
import { type Frame, readEphemeral, readUpdate } from './frames.ts'
import { Listeners } from './listeners.ts'
import { mayRetry, Unreachable } from './refusals.ts'
import { type SilenceWatch, watchSilence } from './silence.ts'
import { createSocketSignIn, type SocketSignIn, type SocketSignInOptions } from './socket-sign-in.ts'
import { SocketioLine, type WebSocketClass } from './socketio.ts'

export type SocketState =
  | { type: 'connecting' }
  | { type: 'live'; connectionId: string }
  /** `nextTryAt` is wall-clock time in milliseconds, for the screen. */
  | { type: 'down'; reason: string; nextTryAt: number }
  /** The token is invalid. Nothing is retried until `reconnectNow`. */
  | { type: 'refused'; reason: string }
  | { type: 'closed' }

export type { Answering, CallHandler } from './answers.ts'
export type { ConnectionScope } from './socket-sign-in.ts'

type PayloadFor<Name extends ClientEvent> = v.InferInput<(typeof events)[Name]['payload']>

/**
 * One connection to the server that reconnects automatically. Listeners are called in the order of
 * arrival and return a function that removes them.
 */
export interface LiveSocket {
  readonly state: SocketState
  /** Undefined while not live. */
  readonly connectionId: string | undefined
  /** When something last arrived, in ms since 1970; undefined before the first time. */
  readonly heardAt: number | undefined
  /** Frames that fitted no schema and were dropped; unknown kinds are not counted. */
  readonly droppedFrames: number

  /** Called at every change, not with the current state. */
  onState(listener: (state: SocketState) => void): () => void
  onUpdate(listener: (update: Update) => void): () => void
  onEphemeral(listener: (ephemeral: Ephemeral) => void): () => void

  /**
   * Sends an event and waits for its acknowledgement (30 s by default). Rejects with `Unreachable`, at
   * once if not live.
   */
  request<Name extends ClientEvent>(event: Name, payload: PayloadFor<Name>, options?: { timeoutMs?: number }): Promise<AckOf<Name>>
  /**
   * False if not live, and with `volatile` also if the connection is busy: then nothing was sent and
   * nothing will be.
   */
  send<Name extends ClientEvent>(event: Name, payload: PayloadFor<Name>, options?: { volatile?: boolean }): boolean
  /** Answers calls of `<session or machine id>:<method>` from now on, across reconnects. */
  answer(method: string, handler: CallHandler): Answering

  /**
   * For `online`, `visibilitychange` and "Try now": while down it tries at once. While live it probes
   * the server and starts over if nothing comes within 5 s; at once after a silence longer than any
   * live connection has, such as a phone's sleep.
   */
  reconnectNow(): void
  /** For `offline`: the network is gone, although the connection was not closed. */
  networkLost(): void
  close(): void
}

interface SocketOptions extends SocketSignInOptions {
  server: string
  WebSocket: WebSocketClass
  clock?: Clock | undefined
  /** Numbers from 0 up to 1, for the jitter. */
  random?: (() => number) | undefined
}

/** Opens at once. Throws only for a `server` that is not a URL; `state` reports everything after that. */
export function openSocket(options: SocketOptions): LiveSocket {
  return new Connection(options)
}

const firstRetryMs = 500
const longestRetryMs = 30_000
const connectWithinMs = 20_000
/**
 * A connection that lasted this long counts as a success; one that fails at once does not, or a
 * struggling server would be hammered.
 */
const settledAfterMs = 10_000
/** `online`, `pageshow` and `visibilitychange` come together: they start one attempt, not three. */
const freshAttemptMs = 1_000

class Connection implements LiveSocket {
  state: SocketState = { type: 'connecting' }
  droppedFrames = 0

  readonly #options: SocketOptions
  readonly #clock: Clock
  readonly #backoff
  readonly #answers
  readonly #signIn: SocketSignIn
  readonly #states = new Listeners<SocketState>()
  readonly #updates = new Listeners<Update>()
  readonly #ephemerals = new Listeners<Ephemeral>()
  #line: SocketioLine
  #startedAt = 0
  /** Of the live connection. */
  #silence: SilenceWatch | undefined
  #cancelTimer = () => {}

  constructor(options: SocketOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#backoff = createBackoff({ firstMs: firstRetryMs, longestMs: longestRetryMs, random: options.random ?? Math.random })
    this.#answers = createCallAnswers((event, method) => this.#line.emit(event, { method }), this.#clock)
    this.#signIn = createSocketSignIn(options)
    this.#line = this.#connect()
  }

  get heardAt(): number | undefined {
    return this.#silence?.heardAt
  }

  get connectionId(): string | undefined {
    return this.state.type === 'live' ? this.state.connectionId : undefined
  }

  onState(listener: (state: SocketState) => void): () => void {
    return this.#states.add(listener)
  }
  onUpdate(listener: (update: Update) => void): () => void {
    return this.#updates.add(listener)
  }
  onEphemeral(listener: (ephemeral: Ephemeral) => void): () => void {
    return this.#ephemerals.add(listener)
  }

  async request<Name extends ClientEvent>(
    event: Name,
    payload: PayloadFor<Name>,
    { timeoutMs = 30_000 }: { timeoutMs?: number } = {}
  ): Promise<AckOf<Name>> {
    if (this.state.type !== 'live') throw new Unreachable('not-connected')
    const line = this.#line
    const answer: unknown = await line.request(event, payload, timeoutMs).catch(cause => {
      throw new Unreachable(line.isConnected ? 'timeout' : 'network', { cause })
    })
    const acknowledgement = v.safeParse(events[event].ack, answer)
    if (!acknowledgement.success) throw new Unreachable('strange-answer', { cause: new v.Misfit(acknowledgement.problem) })
    // The table says which schema belongs to which event; a generic lookup loses that.
    return acknowledgement.data as AckOf<Name>
  }

  send<Name extends ClientEvent>(event: Name, payload: PayloadFor<Name>, { volatile = false }: { volatile?: boolean } = {}): boolean {
    if (this.state.type !== 'live') return false
    if (volatile && this.#line.isBusy) return false
    this.#line.emit(event, payload)
    return true
  }

  answer(method: string, handler: CallHandler): Answering {
    return this.#answers.answer(method, handler)
  }

  reconnectNow(): void {
    switch (this.state.type) {
      case 'down':
      case 'refused':
        this.#start()
        return
      case 'connecting':
        // An attempt begun before the network returned may hang on a dead route.
        if (this.#clock.now() - this.#startedAt >= freshAttemptMs) this.#start()
        return
      case 'live':
        if (this.#silence?.isTooLong()) this.#start()
        else this.#silence?.probe()
        return
      case 'closed':
        return
    }
  }

  networkLost(): void {
    if (this.state.type === 'live' || this.state.type === 'connecting') this.#fail('network lost')
  }

  close(): void {
    if (this.state.type === 'closed') return
    this.#drop()
    this.#enter({ type: 'closed' })
  }

  #enter(state: SocketState): void {
    this.state = state
    this.#states.tell(state)
  }

  #start(): void {
    this.#drop()
    this.#line = this.#connect()
    this.#enter({ type: 'connecting' })
  }

  /** Each attempt has its own connection, so nothing late from an earlier one is mistaken for new. */
  #connect(): SocketioLine {
    const { origin, pathname } = new URL(this.#options.server)
    this.#startedAt = this.#clock.now()
    const line: SocketioLine = new SocketioLine(origin + pathname.replace(/\/+$/, '') + socketPath, this.#options.WebSocket, this.#clock, {
      onOpen: () => void this.#authenticate(line),
      onConnect: id => this.#goLive(line, id),
      onPacket: () => line.isConnected && this.#silence?.heard(),
      onEvent: (event, payload, acknowledge) => this.#takeEvent(event, payload, acknowledge),
      onEnd: (reason, isRefusal) => {
        if (isRefusal) void this.#renew(line, reason)
        else this.#fail(reason)
      }
    })
    // Also covers a server that opens the connection and then never accepts.
    this.#cancelTimer = this.#clock.after(connectWithinMs, () => this.#fail('timeout'))
    return line
  }

  #takeEvent(event: string, payload: unknown, acknowledge: ((result: unknown) => void) | undefined): void {
    switch (event) {
      case 'update':
        this.#hear(readUpdate(payload), this.#updates)
        break
      case 'ephemeral':
        this.#hear(readEphemeral(payload), this.#ephemerals)
        break
      case 'rpc-registered':
        this.#answers.heardRegistered(payload)
        break
      case 'rpc-request':
        if (acknowledge) this.#answers.heardRequest(payload, acknowledge)
        break
    }
  }

  async #authenticate(line: SocketioLine): Promise<void> {
    try {
      const handshake = await this.#signIn.handshake()
      if (this.#isCurrent(line)) line.authenticate(handshake)
    } catch (error) {
      if (this.#isCurrent(line)) this.#failOrRefuse(error)
    }
  }

  async #renew(line: SocketioLine, reason: string): Promise<void> {
    try {
      const isNew = await this.#signIn.renew()
      if (!this.#isCurrent(line)) return
      if (isNew) this.#start()
      else this.#refuse(reason)
    } catch (error) {
      if (this.#isCurrent(line)) this.#failOrRefuse(error)
    }
  }

  /** Whoever closed the socket, such as at sign-out, must never see it come back: not even by a token that was asked for before. */
  #isCurrent(line: SocketioLine): boolean {
    return line === this.#line && this.state.type !== 'closed'
  }

  #failOrRefuse(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (mayRetry(error)) this.#fail(reason)
    else this.#refuse(reason)
  }

  #goLive(line: SocketioLine, connectionId: string): void {
    this.#cancelTimer()
    this.#startedAt = this.#clock.now()
    this.#answers.connected()
    // Any packet proves that the connection is alive, even an answer too late for its request.
    const ask = () => void line.request('ping', {}, connectWithinMs).catch(() => {})
    this.#silence = watchSilence({ clock: this.#clock, ask, onDead: () => this.#start() })
    this.#enter({ type: 'live', connectionId })
  }

  #fail(reason: string): void {
    if (this.state.type === 'live' && this.#clock.now() - this.#startedAt >= settledAfterMs) this.#backoff.reset()
    this.#drop()
    const waitMs = this.#backoff.nextMs()
    this.#cancelTimer = this.#clock.after(waitMs, () => this.#start())
    this.#enter({ type: 'down', reason, nextTryAt: Date.now() + waitMs })
  }

  #refuse(reason: string): void {
    this.#drop()
    this.#enter({ type: 'refused', reason })
  }

  #drop(): void {
    this.#cancelTimer()
    this.#silence?.stop()
    this.#answers.disconnected()
    this.#line.close()
  }

  #hear<Known>(read: Frame<Known>, listeners: Listeners<Known>): void {
    if (read.type === 'known') listeners.tell(read.frame)
    if (read.type === 'bad') this.droppedFrames++
  }
}
