import type { Clock } from '../../../async/clock.ts'
import { maxPacketBytes, pingIntervalMs, pingTimeoutMs } from '../../../protocol/wire/handshake.ts'
import type { CloseReason } from '../../hub/connection.ts'
import type { Frame } from '../../hub/frames.ts'
import type { Writer, WriteTurn } from '../http/write-turn.ts'
import type { PacketSize } from '../listen/packet-sizes.ts'
import type { AdmittedConnection } from './connection-admission.ts'
import type { Heartbeat, Pinged } from './heartbeat.ts'
import { Pace, paceIsWholeAfterMs } from './pace.ts'

/** What a client may leave unread besides the data of one turn, and how much may follow while it reads nothing. */
export const mostUnreadBytes = 1024 * 1024
/** The same before sign-in: answers are a few words then. */
export const mostUnreadOfStrangers = 64 * 1024

export const ping = '2'

/** How packets are sent to a client. A connection has one transport at a time. */
export interface Transport {
  /** The transports that a client may upgrade to. */
  readonly upgrades: readonly string[]
  /** When the client last read waiting data; undefined if nothing waits. */
  readonly readAt: number | undefined
  /**
   * A client of this network signed in. False if there is no place for packets as large as it accepts: then the connection
   * must end.
   */
  signedIn(account: string, network: string): boolean
  /** They left. Returns how large packets it goes on to take. */
  signedOut(): PacketSize
  /** Accepts the packets of a turn. False if the client is too far behind: then the connection must end. */
  write(packets: readonly Frame[]): boolean
  /** The connection is over; tells the client as far as the transport can, and is not called again. */
  end(reason: CloseReason): void
}

/** Receives the packets of a client. */
export interface Receiver {
  /** How much a client may send at once now. */
  readonly mostBytes: number
  /** How much sent data the client may leave unread. */
  readonly mostUnreadBytes: number
  /** Where the client is. */
  readonly network: string
  receive(packet: string): void
  /** A binary message; the receiver owns the bytes. */
  receiveBinary(bytes: Buffer): void
  /** The transport failed, or the client left it. */
  gone(): void
  /** Closes the resources of the transport. */
  close(reason: CloseReason): void
}

/** The handlers of an Engine.IO connection; created for each. */
export interface EngineHandler {
  /** How much a client may send at once now; little before sign-in. */
  readonly mostBytes: number
  /** The content of an Engine.IO message packet. `isOverPace`: the connection sends too fast, and the message must be rejected. */
  message(data: string | Buffer, isOverPace: boolean): void
  closed(): void
}

export interface EngineDeps {
  heartbeat: Heartbeat
  turn: WriteTurn
  newId: () => string
  clock: Clock
  limits: 'default' | 'off'
  accept: (connection: EngineConnection) => EngineHandler
}

/** A single packet up to this size, such as the answer to a ping, is not rate-limited. */
const littleBytes = 1024

/**
 * One Engine.IO 4 connection, on any transport. Many are idle, so what only a busy one needs is created on
 * demand.
 */
export class EngineConnection implements Pinged, Writer, Receiver {
  /** Why it ended; undefined while open. */
  endedBy: CloseReason | undefined
  /** Called once, at its end. */
  onEnd: (() => void) | undefined
  /** Its account while signed in. */
  account: string | undefined
  #transport: Transport | undefined
  readonly #deps: EngineDeps
  readonly #admitted: AdmittedConnection
  #heardAt = -paceIsWholeAfterMs
  #pace: Pace | undefined
  #handler: EngineHandler | undefined
  #waiting: Frame[] | undefined

  /** `sid` identifies the connection in its client's requests. It is not the id that others may see. */
  constructor(transport: Transport, deps: EngineDeps, admitted: AdmittedConnection, sid = deps.newId()) {
    this.#deps = deps
    this.#admitted = admitted
    this.#transport = transport
    const { upgrades } = transport
    const open = { sid, upgrades, pingInterval: pingIntervalMs, pingTimeout: pingTimeoutMs, maxPayload: maxPacketBytes }
    // At once, so that it leaves with the answer to the handshake.
    this.#write([`0${JSON.stringify(open)}`])
    deps.heartbeat.alive(this)
    this.#handler = deps.accept(this)
    admitted.onCrowded = () => this.close('crowded')
  }

  get network(): string {
    return this.#admitted.network
  }

  get address(): string {
    return this.#admitted.address
  }

  get mostBytes(): number {
    return this.#handler?.mostBytes ?? 0
  }

  get isSignedIn(): boolean {
    return this.account !== undefined
  }

  get mostUnreadBytes(): number {
    return this.isSignedIn ? mostUnreadBytes : mostUnreadOfStrangers
  }

  /** A client signed in. False if the connection cannot continue as it is. */
  signedIn(account: string): boolean {
    this.account = account
    this.#admitted.signedIn()
    return this.#transport?.signedIn(account, this.network) ?? false
  }

  /** They left, and it stays as a stranger's, if there is a place for as large packets as it takes. */
  signedOut(): void {
    this.account = undefined
    const packetSize = this.#transport?.signedOut() ?? 'small'
    if (!this.#admitted.signedOut(packetSize, () => this.close('crowded'))) this.close('client-left')
  }

  isOn(transport: Transport): boolean {
    return this.#transport === transport
  }

  /** Sends a packet with the others of this turn. */
  send(packet: Frame): void {
    if (!this.#transport) return
    if (this.#waiting) this.#waiting.push(packet)
    else {
      this.#waiting = [packet]
      this.#deps.turn.write(this)
    }
  }

  flush(): void {
    const packets = this.#waiting
    this.#waiting = undefined
    if (packets) this.#write(packets)
  }

  /** Switches to another transport, which first gets what the old one still had. */
  moveTo(transport: Transport, rest: readonly Frame[]): void {
    this.#transport = transport
    this.#write(rest)
  }

  /** Nothing is sent after this except earlier packets of the same turn. */
  close(reason: CloseReason): void {
    if (reason !== 'slow-consumer') this.flush()
    const transport = this.#transport
    if (!transport) return
    this.#transport = undefined
    transport.end(reason)
    this.#end(reason)
  }

  ping(): void {
    this.send(ping)
  }

  // Its ping may be queued behind a large frame, and a client that reads that is alive.
  silent(): void {
    const { clock, heartbeat } = this.#deps
    const readAt = this.#transport?.readAt
    if (readAt !== undefined && clock.now() - readAt < pingTimeoutMs) heartbeat.alive(this)
    else this.close('ping-timeout')
  }

  serverGone(): void {
    this.close('server-shutdown')
  }

  receive(packet: string): void {
    if (!this.#transport) return
    const pace = this.#paceOf(packet.length)
    if (pace === 'far-over') {
      this.close('too-fast')
      return
    }
    switch (packet[0]) {
      case '4':
        this.#handler?.message(packet.slice(1), pace === 'over')
        return
      case '3':
        this.#deps.heartbeat.alive(this)
        return
      case '1':
        this.close('client-left')
        return
      // A finished or unstarted upgrade, or a noop: neither has an effect.
      case '5':
      case '6':
        return
      default:
        this.close('bad-packet')
    }
  }

  receiveBinary(bytes: Buffer): void {
    const pace = this.#paceOf(bytes.length)
    if (pace === 'far-over') this.close('too-fast')
    else this.#handler?.message(bytes, pace === 'over')
  }

  gone(): void {
    if (!this.#transport) return
    this.#transport = undefined
    this.#end('client-left')
  }

  // A client that was silent long enough has its full rate back, so one that only answers pings stores
  // none.
  #paceOf(bytes: number): ReturnType<Pace['take']> {
    const now = Math.floor(this.#deps.clock.now())
    const isLone = now - this.#heardAt >= paceIsWholeAfterMs
    this.#heardAt = now
    if (isLone) this.#pace = undefined
    if (isLone && bytes <= littleBytes) return 'within'
    this.#pace ??= new Pace(this.#deps)
    return this.#pace.take(bytes)
  }

  // A connection that does not read is closed instead of losing a packet: it reconnects and catches up.
  #write(packets: readonly Frame[]): void {
    if (this.#transport?.write(packets) === false) this.close('slow-consumer')
  }

  #end(reason: CloseReason): void {
    this.endedBy = reason
    this.#waiting = undefined
    this.#deps.heartbeat.leave(this)
    this.#handler?.closed()
    this.#handler = undefined
    this.#admitted.leave()
    this.onEnd?.()
  }
}
