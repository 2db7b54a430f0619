import type { Clock } from '../../../async/clock.ts'
import type { FailureCode } from '../../../protocol/wire/failures.ts'
import { type Handshake, handshake, maxPacketBytes } from '../../../protocol/wire/handshake.ts'
import type { AccountId, ConnectionId } from '../../../protocol/wire/ids.ts'
import * as v from '../../../schema.ts'
import { type Authenticator, type Bearer, connectionRights } from '../../actions/sign-in/authenticate.ts'
import type { Budget, Share } from '../../budget.ts'
import type { Presence } from '../../chores/presence.ts'
import type { Connection } from '../../hub/connection.ts'
import type { Hub } from '../../hub/hub.ts'
import type { SocketSeats } from '../../hub/socket-seats.ts'
import type { Limits } from '../../limits.ts'
import { failureOf, isWorthReport } from '../../refusals.ts'
import type { SecurityLog } from '../../watch/security-log.ts'
import type { InFlight } from '../listen/in-flight.ts'
import { Accepted } from './accepted.ts'
import type { EngineConnection, EngineHandler } from './engineio.ts'
import type { EventQueue } from './event-queue.ts'
import type { EventHandlers } from './events.ts'
import { PacketReader } from './packet-reader.ts'
import { ackFrame, connectErrorFrame, connectFrame, type Packet } from './packets.ts'

const connectWithinMs = 20_000
/** More than a CONNECT packet needs, and small enough to accept before sign-in. */
const mostBytesBeforeConnect = 16 * 1024
const littleBytes = 1024

export interface SocketDeps {
  hub: Hub
  presence: Presence
  clock: Clock
  newId: () => string
  /** An id unique across connections for its requests. */
  nextAckId: () => number
  authenticator: Pick<Authenticator, 'bearer'>
  seats: Pick<SocketSeats, 'take'>
  events: EventHandlers
  eventQueue: EventQueue
  limits: Pick<Limits, 'check' | 'charge' | 'take'>
  securityLog: Pick<SecurityLog, 'rejected'> | undefined
  /** Of all that has arrived and is not handled yet. */
  bodies: Budget
  inFlight: Pick<InFlight, 'begin' | 'isClosing'>
  onError: (error: unknown) => void
}

const nothing = () => {}
const done = Promise.resolve()

/** One Socket.IO connection: rejected or accepted once, then events in, frames out. */
export class SocketConnection implements EngineHandler {
  readonly #deps: SocketDeps
  readonly #engine: EngineConnection
  /** While bytes are to follow a packet. */
  #reader: PacketReader | undefined
  #cancelDeadline: () => void
  #accepted: Accepted | undefined
  #leaveSeat = nothing
  #state: 'new' | 'connecting' | 'live' | 'gone' = 'new'
  /** Of a packet not handled yet. */
  #held: Share | undefined

  constructor(deps: SocketDeps, engine: EngineConnection) {
    this.#deps = deps
    this.#engine = engine
    this.#cancelDeadline = deps.clock.after(connectWithinMs, () => engine.close('connect-timeout'))
  }

  get mostBytes(): number {
    return this.#state === 'live' ? maxPacketBytes : mostBytesBeforeConnect
  }

  message(data: string | Buffer, isOverPace: boolean): void {
    if (this.#accepted && !this.#isAccountWithinRate(this.#accepted.account, data.length)) {
      this.#engine.close('too-fast')
      return
    }
    const packet = data.length > this.mostBytes ? undefined : this.#read(data)
    // Only sign-in may come first, and it has no bytes: those of strangers are counted nowhere.
    const isTooEarly = packet === 'more' && this.#state !== 'live'
    if (!packet || isTooEarly) this.#engine.close('bad-packet')
    else if (!this.#hold(data.length)) this.#engine.close('too-fast')
    else if (packet !== 'more') {
      this.#handle(packet, isOverPace)
      this.#letGo()
    }
  }

  #read(data: string | Buffer): Packet | 'more' | undefined {
    const reader = this.#reader ?? new PacketReader()
    const packet = reader.read(data)
    this.#reader = packet === 'more' ? reader : undefined
    return packet
  }

  /** Counts what arrived until it is handled. False if that is too much for the account or in total. */
  #hold(bytes: number): boolean {
    if (!this.#accepted || (bytes <= littleBytes && !this.#held)) return true
    this.#held ??= this.#deps.bodies.share(this.#accepted.account)
    return this.#held.take(bytes)
  }

  #letGo(): void {
    this.#held?.giveBack()
    this.#held = undefined
  }

  /**
   * All sockets of an account count together. A small packet passes, so that a large one of another socket
   * does not block it.
   */
  #isAccountWithinRate(account: AccountId, bytes: number): boolean {
    const { limits } = this.#deps
    const isWithin = this.#isWithinLimit(() => {
      limits.take('socketPackets', account)
      if (bytes > littleBytes) limits.check('socketBytes', account)
    })
    if (isWithin) limits.charge('socketBytes', account, bytes)
    return isWithin
  }

  #isWithinLimit(count: () => void): boolean {
    try {
      count()
      return true
    } catch (error) {
      if (isWorthReport(error)) this.#deps.onError(error)
      this.#noteRejection(failureOf(error)?.code)
      return false
    }
  }

  closed(): void {
    this.#cancelDeadline()
    this.#leave()
    this.#letGo()
    this.#state = 'gone'
  }

  /** It has left; its transport may stay open, and another sign-in may follow on it. */
  #leave(): void {
    this.#state = 'new'
    this.#leaveSeat()
    this.#leaveSeat = nothing
    const accepted = this.#accepted
    this.#accepted = undefined
    if (!accepted) return
    accepted.end()
    this.#deps.hub.detach(accepted)
    this.#tellPresence(accepted, 'left')
  }

  #handle(packet: Packet, isOverPace: boolean): void {
    if (packet.type === 'connect' && packet.namespace !== '/') {
      this.#engine.send(connectErrorFrame('Invalid namespace', packet.namespace))
      return
    }
    if (packet.type === 'connect' && this.#state === 'new') {
      this.#state = 'connecting'
      this.#connect(packet.auth).catch(error => {
        // Not the client's fault: it must reconnect automatically, which it does only after a plain close.
        if (isWorthReport(error)) this.#deps.onError(error)
        this.#noteRejection(failureOf(error)?.code)
        this.#engine.close('try-again')
      })
      return
    }
    if (this.#state !== 'live' || !this.#accepted || packet.type === 'connect') {
      this.#engine.close('bad-packet')
      return
    }
    this.#handleLive(this.#accepted, packet, isOverPace)
  }

  #handleLive(accepted: Accepted, packet: Exclude<Packet, { type: 'connect' }>, isOverPace: boolean): void {
    switch (packet.type) {
      case 'disconnect':
        this.#leave()
        this.#engine.signedOut()
        return
      case 'ack':
        accepted.acknowledged(packet.ackId, packet.reply)
        return
      case 'event': {
        const { ackId } = packet
        const reply = ackId === undefined ? undefined : (body: unknown) => this.#acknowledge(accepted, ackId, body)
        if (!isOverPace) this.#queue(accepted, packet.name, packet.payload, reply)
        else this.#refuse(packet.name, reply)
      }
    }
  }

  #queue(accepted: Accepted, name: string, payload: unknown, reply?: (body: unknown) => void): void {
    const { eventQueue, events, inFlight } = this.#deps
    // Once the server ends nothing new is started; without an answer the client knows that this was not.
    const work = eventQueue.take(accepted.account, events.answerBytes(name), () =>
      inFlight.isClosing ? done : events.handle(accepted, name, payload, reply)
    )
    if (work) this.#letGoAfter(work)
    else this.#refuse(name)
  }

  #refuse(name: string, reply?: (body: unknown) => void): void {
    this.#deps.events.refuse(name, reply)
    // A client that requests no acknowledgement could not know that it was dropped.
    if (!reply) this.#engine.close('too-fast')
  }

  #letGoAfter(work: Promise<void>): void {
    const held = this.#held
    this.#held = undefined
    if (held) work.finally(() => held.giveBack())
  }

  // A later sign-in on the same transport may reuse the number.
  #acknowledge(accepted: Accepted, ackId: number, body: unknown): void {
    if (this.#accepted !== accepted) return
    const frame = ackFrame(ackId, body)
    this.#deps.limits.charge('socketAnswers', accepted.account, frame.length)
    this.#engine.send(frame)
  }

  async #connect(auth: unknown): Promise<void> {
    const signIn = await this.#signIn(auth)
    if ('refusal' in signIn) {
      this.#engine.send(connectErrorFrame(signIn.refusal))
      this.#state = this.#state === 'connecting' ? 'new' : this.#state
      return
    }
    if (this.#state !== 'connecting') return
    // Not a rejection, which clients take as final: there may be room later.
    const { account } = signIn.bearer
    const mayConnect = this.#isWithinLimit(() => this.#deps.limits.take('connects', account))
    const leaveSeat = mayConnect ? this.#deps.seats.take(account, () => this.#engine.close('try-again')) : undefined
    if (!leaveSeat) return this.#engine.close('try-again')
    this.#leaveSeat = leaveSeat
    const accepted = new Accepted(this.#engine, this.#deps.newId() as ConnectionId, signIn.bearer, signIn.hello, this.#deps)
    await this.#deps.hub.attach(accepted)
    // It may have closed while it was being accepted.
    if (this.#state !== 'connecting' || !this.#engine.signedIn(accepted.account)) {
      this.#deps.hub.detach(accepted)
      this.#engine.close('try-again')
      return
    }
    this.#cancelDeadline()
    this.#cancelDeadline = nothing
    this.#state = 'live'
    this.#accepted = accepted
    this.#engine.send(connectFrame(accepted.id))
    this.#tellPresence(accepted, 'came')
  }

  async #signIn(auth: unknown): Promise<{ refusal: string } | { bearer: Bearer; hello: Handshake }> {
    const parsed = v.safeParse(handshake, auth)
    const hello: Handshake | undefined = parsed.success ? parsed.data : undefined
    if (!hello?.token) return { refusal: 'Missing authentication token' }
    if (hello.clientType === 'session-scoped' && !hello.sessionId) return { refusal: 'Session ID required for session-scoped clients' }
    if (hello.clientType === 'machine-scoped' && !hello.machineId) return { refusal: 'Machine ID required for machine-scoped clients' }
    const bearer = await this.#deps.authenticator.bearer(hello.token, () => this.#engine.network)
    if (!bearer) {
      this.#noteRejection('bad-token')
      return { refusal: 'Invalid authentication token' }
    }
    if (connectionRights(bearer).mayListen) return { bearer, hello }
    this.#noteRejection('scope-missing')
    return { refusal: 'This token is not allowed to do this' }
  }

  #noteRejection(code: FailureCode | undefined): void {
    if (code) this.#deps.securityLog?.rejected({ address: this.#engine.address, route: 'socket', code })
  }

  #tellPresence({ account, scope, isPresent }: Connection, what: 'came' | 'left'): void {
    const { hub, presence, onError } = this.#deps
    if (scope === 'app' || !isPresent) return
    if (what === 'came') {
      if (scope.of === 'machine') presence.machineCame(account, scope).catch(onError)
      // Data on a new connection was sent after the end.
      else presence.listenAgain(account, scope.id)
      return
    }
    // A process that already reconnected has not left.
    if (hub.hasOwn(account, scope)) return
    if (scope.of === 'machine') presence.machineLeft(account, scope).catch(onError)
    else presence.sessionLeft(account, scope)
  }
}
