import type { Clock } from '../../../async/clock.ts'
import type { Handshake } from '../../../protocol/wire/handshake.ts'
import type { ConnectionId } from '../../../protocol/wire/ids.ts'
import { type Bearer, connectionRights } from '../../actions/sign-in/authenticate.ts'
import type { Caller } from '../../deps.ts'
import type { CloseReason, Connection } from '../../hub/connection.ts'
import type { Frame } from '../../hub/frames.ts'
import type { EngineConnection } from './engineio.ts'
import { askFrame } from './packets.ts'

// Most connections are idle nearly all the time, so what only a busy one needs is created on demand.
const nothingWritten = Promise.resolve()

type AcceptedDeps = { clock: Pick<Clock, 'now'>; nextAckId: () => number }

/** An accepted connection. */
export class Accepted implements Connection {
  readonly id: ConnectionId
  readonly scope: Connection['scope']
  readonly isPresent: boolean
  readonly readsAfieldEvents: boolean
  watchedUntil = Number.NEGATIVE_INFINITY
  takesPartials: boolean
  /** Settles when every write accepted so far is done, so that `ping` can be answered after them. */
  written: Promise<unknown> = nothingWritten
  /** Its messages may be handled later, but nothing reaches it any more. */
  hasEnded = false
  /** Consecutive calls that were rejected as too many. */
  callsRefused = 0
  readonly #engine: EngineConnection
  readonly #bearer: Bearer
  readonly #deps: AcceptedDeps
  readonly #isEchoed: boolean
  /** It said so itself: a program that only calls sends a token and nothing else, and counts as not in use. */
  readonly #isApp: boolean
  #caller: Caller | undefined
  #controller: AbortController | undefined
  #registered: Set<string> | undefined
  #asked: Map<number, (reply: unknown) => void> | undefined

  constructor(engine: EngineConnection, id: ConnectionId, bearer: Bearer, hello: Handshake, deps: AcceptedDeps) {
    this.#deps = deps
    this.#engine = engine
    this.id = id
    this.#bearer = bearer
    this.scope = scopeOf(hello)
    this.isPresent = connectionRights(bearer).isPresent
    this.#isApp = hello.clientType === 'user-scoped'
    // Only our clients mention an echo, including those from before `signals` existed.
    this.readsAfieldEvents = hello.signals ?? hello.echo === false
    this.takesPartials = hello.partials ?? this.readsAfieldEvents
    this.watch(hello.appState, hello.watchedForMs)
    this.#isEchoed = hello.echo !== false
  }

  /** Accepts the app's report whether it is in use, and for how long. */
  watch(state: string | undefined, forMs = Number.POSITIVE_INFINITY): void {
    this.watchedUntil = this.#isApp && this.isPresent && state === 'active' ? this.#deps.clock.now() + forMs : Number.NEGATIVE_INFINITY
  }

  get account(): Connection['account'] {
    return this.#bearer.account
  }

  get token(): Connection['token'] {
    return this.#bearer.token
  }

  /** The caller when this connection sends a message: the sender never gets its own. */
  get sender(): Caller {
    const { account, token, kind, scopes, device } = this.#bearer
    this.#caller ??= { account, token, kind, scopes, device, skip: this.id }
    return this.#caller
  }

  /** The caller when it writes a versioned value: echoed, unless it opted out. */
  get writer(): Caller {
    return this.#isEchoed ? { ...this.sender, skip: undefined } : this.sender
  }

  /** Aborted when the connection ends. */
  get gone(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.hasEnded) this.#controller.abort()
    return this.#controller.signal
  }

  /** The methods this connection registered. */
  get methods(): Set<string> {
    this.#registered ??= new Set()
    return this.#registered
  }

  send(frame: Frame): void {
    this.#engine.send(frame)
  }

  close(reason: CloseReason): void {
    this.#engine.close(reason)
  }

  ask(event: string, body: unknown, onReply: (reply: unknown) => void): () => void {
    const ackId = this.#deps.nextAckId()
    this.#asked ??= new Map()
    this.#asked.set(ackId, onReply)
    this.#engine.send(askFrame(ackId, event, body))
    return () => this.#asked?.delete(ackId)
  }

  /** Takes a write, which must not reject. */
  writes(work: Promise<unknown>): void {
    const before = this.written
    this.written = work.then(() => before)
  }

  /** Late and unknown acknowledgements are dropped. */
  acknowledged(ackId: number, reply: unknown): void {
    const onReply = this.#asked?.get(ackId)
    this.#asked?.delete(ackId)
    onReply?.(reply)
  }

  end(): void {
    this.hasEnded = true
    this.#controller?.abort()
    this.#asked?.clear()
  }
}

function scopeOf(hello: Handshake): Connection['scope'] {
  if (hello.clientType === 'session-scoped' && hello.sessionId) return { of: 'session', id: hello.sessionId }
  if (hello.clientType === 'machine-scoped' && hello.machineId) return { of: 'machine', id: hello.machineId }
  return 'app'
}
