import type { Clock } from '../../../async/clock.ts'
import { maxPacketBytes, pingIntervalMs, pingTimeoutMs } from '../../../protocol/wire/handshake.ts'
import type { CloseReason } from '../../hub/connection.ts'
import type { Frame } from '../../hub/frames.ts'
import type { Turn, Writer } from '../http/turn.ts'
import type { Width } from '../listen/widths.ts'
import type { Heartbeat, Pinged } from './heartbeat.ts'
import { Pace, paceIsWholeAfterMs } from './pace.ts'
import type { Visit } from './visits.ts'

/** What a client may leave unread besides what one turn brought, and how much may come after that while it takes nothing. */
export const mostUnreadBytes = 1024 * 1024
/** The same before anybody has signed in: a stranger is answered with a few words. */
export const mostUnreadOfStrangers = 64 * 1024

export const ping = '2'

/** How packets get to a client. A connection has one transport at a time. */
export interface Transport {
  /** What a client may change to later. */
  readonly upgrades: readonly string[]
  /** When the client last took some of what waited for it; undefined when nothing has. */
  readonly readAt: number | undefined
  /** Somebody is let in. False when there is no place for as large packets as it takes: then the connection must end. */
  signedIn(account: string): boolean
  /** They left. Returns how large packets it goes on to take. */
  signedOut(): Width
  /** Takes the packets of a turn. False when the client is too far behind: then the connection must end. */
  write(packets: readonly Frame[]): boolean
  /** The connection is over; tells the client as far as the transport can, and is not called again. */
  end(reason: CloseReason): void
}

/** What takes the packets of a client. */
export interface Receiver {
  /** How much a client may send at once now. */
  readonly mostBytes: number
  /** How much of what it is sent the client may leave unread. */
  readonly mostUnreadBytes: number
  receive(packet: string): void
  /** A message of bytes, which are the receiver's to keep. */
  receiveBinary(bytes: Buffer): void
  /** The transport broke, or the client left it. */
  gone(): void
  /** Ends what travels over the transport. */
  close(reason: CloseReason): void
}

/** What is done with an Engine.IO connection; made anew for each. */
export interface EngineHandler {
  /** How much a client may send at once now; strangers need little. */
  readonly mostBytes: number
  /** What an Engine.IO message packet carried. One that is over the pace is answered with a refusal. */
  message(data: string | Buffer, isOver: boolean): void
  closed(): void
}

export interface EngineDeps {
  heartbeat: Heartbeat
  turn: Turn
  newId: () => string
  clock: Clock
  limits: 'default' | 'off'
  accept: (connection: EngineConnection) => EngineHandler
}

/** A lone packet up to this, such as the answer to a ping, needs no pace. */
const littleBytes = 1024

/** One Engine.IO 4 connection, whatever it travels over. There are many that only wait, so what only a busy one needs is made when it is. */
export class EngineConnection implements Pinged, Writer, Receiver {
  /** Names the connection in the requests of its client. Not the id that others may see. */
  readonly sid: string
  /** Why it ended; undefined while it is open. */
  endedBy: CloseReason | undefined
  /** Called once, when it has ended. */
  onEnd: (() => void) | undefined
  /** Whose it is while somebody is let in and has not left. */
  account: string | undefined
  #transport: Transport | undefined
  readonly #deps: EngineDeps
  readonly #visit: Visit
  #heardAt = -paceIsWholeAfterMs
  #pace: Pace | undefined
  #handler: EngineHandler | undefined
  #waiting: Frame[] | undefined

  constructor(transport: Transport, deps: EngineDeps, visit: Visit) {
    this.sid = deps.newId()
    this.#deps = deps
    this.#visit = visit
    this.#transport = transport
    const { upgrades } = transport
    const open = { sid: this.sid, upgrades, pingInterval: pingIntervalMs, pingTimeout: pingTimeoutMs, maxPayload: maxPacketBytes }
    this.send(`0${JSON.stringify(open)}`)
    deps.heartbeat.alive(this)
    this.#handler = deps.accept(this)
    visit.onCrowded = () => this.close('crowded')
  }

  get network(): string {
    return this.#visit.network
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

  /** Somebody is let in. False when it cannot be let stay as it is. */
  signedIn(account: string): boolean {
    this.account = account
    this.#visit.signedIn()
    return this.#transport?.signedIn(account) ?? false
  }

  /** They left, and it stays as a stranger's, if there is a place for as large packets as it takes. */
  signedOut(): void {
    this.account = undefined
    const width = this.#transport?.signedOut() ?? 'narrow'
    if (!this.#visit.signedOut(width, () => this.close('crowded'))) this.close('client-left')
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

  /** Goes on over another transport, which is given first what the old one still had. */
  moveTo(transport: Transport, rest: readonly Frame[]): void {
    this.#transport = transport
    this.#write(rest)
  }

  /** Nothing is sent after this but what was sent before in the same turn. */
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

  // Its ping may wait behind a large frame, and who reads that is there.
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
      // An upgrade that is over or never began, or a noop: neither means anything.
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

  // Who was silent for long enough has all of its pace back, so one that only answers its pings keeps none.
  #paceOf(bytes: number): ReturnType<Pace['take']> {
    const now = Math.floor(this.#deps.clock.now())
    const isLone = now - this.#heardAt >= paceIsWholeAfterMs
    this.#heardAt = now
    if (isLone) this.#pace = undefined
    if (isLone && bytes <= littleBytes) return 'within'
    this.#pace ??= new Pace(this.#deps)
    return this.#pace.take(bytes)
  }

  // A connection that does not read is closed instead of losing a packet: it comes back and catches up.
  #write(packets: readonly Frame[]): void {
    if (this.#transport?.write(packets) === false) this.close('slow-consumer')
  }

  #end(reason: CloseReason): void {
    this.endedBy = reason
    this.#waiting = undefined
    this.#deps.heartbeat.leave(this)
    this.#handler?.closed()
    this.#handler = undefined
    this.#visit.leave()
    this.onEnd?.()
  }
}
