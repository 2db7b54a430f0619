import type * as uws from 'uWebSockets.js'
import { type CloseReason, closeCodes } from '../../hub/connection.ts'
import { type Frame, pieceBytes } from '../../hub/frames.ts'
import type { LargePacketSlot, LargePacketSlots } from '../listen/large-packet-slots.ts'
import { type PacketSize, packetSizes } from '../listen/packet-sizes.ts'
import type { Backlog, Behind } from './backlog.ts'
import type { AdmittedConnection } from './connection-admission.ts'
import { type EngineDeps, mostUnreadOfStrangers, type Receiver, type Transport } from './engineio.ts'
import { Pace } from './pace.ts'
import type { PollingClient } from './polling.ts'
import { type Piece, SendQueue } from './send-queue.ts'

const none: readonly string[] = []
/** How long a client that is behind may take to read the rest, so that it gets the close reason. */
const lingerMs = 5_000
/** What the library reports for a packet announced as larger than the WebSocket accepts. */
const tooLarge = 'Received too big message'

/** The data of a WebSocket from its handshake on. */
export interface UserData {
  transport: WebSocketTransport | undefined
  /** Until it is open: the library keeps each property with the WebSocket. */
  start: Start | undefined
}

/** How a WebSocket starts. */
export interface Start {
  packetSize: PacketSize
  /** The connection that upgrades to this WebSocket; otherwise the admitted connection that starts with it. */
  polling: PollingClient | undefined
  admitted: AdmittedConnection | undefined
}

type TransportDeps = Pick<EngineDeps, 'clock' | 'limits' | 'turn'> & { backlog: Backlog; largePacketSlots: LargePacketSlots }

/** Its types omit that a message may be sent in parts. */
export interface WebSocket<Data> extends uws.WebSocket<Data> {
  sendFirstFragment(part: Uint8Array): number
  sendFragment(part: Uint8Array): number
  sendLastFragment(part: Uint8Array): number
}

/** Engine.IO packets as WebSocket frames. */
export class WebSocketTransport implements Transport, Behind {
  receiver: Receiver | undefined
  readonly #ws: WebSocket<UserData>
  readonly #deps: TransportDeps
  #pingPace: Pace | undefined
  /** What waits for the client to read, once anything did. */
  #sendQueue: SendQueue | undefined
  /** It requested its turn to write a piece. */
  #isInLine = false
  /** Why it ends, while earlier data is still being read. */
  #ending: CloseReason | undefined
  #isClosed = false
  #cancelLinger: (() => void) | undefined
  readonly #packetSize: PacketSize
  #isSignedIn = false
  /** While it is signed in and may send the largest packets. */
  #largePacketSlot: LargePacketSlot | undefined

  constructor(ws: WebSocket<UserData>, { packetSize }: Start, deps: TransportDeps) {
    this.#ws = ws
    this.#deps = deps
    this.#packetSize = packetSize
  }

  signedIn(account: string, network: string): boolean {
    this.#isSignedIn = true
    const packetSize = this.#packetSize
    if (packetSize === 'small') return true
    this.#largePacketSlot ??= this.#deps.largePacketSlots.take({ account, packetSize, network, makeRoom: () => this.evict() })
    return this.#largePacketSlot !== undefined
  }

  // The library sets the maximum packet size when the WebSocket opens, and does not change it.
  signedOut(): PacketSize {
    this.#isSignedIn = false
    this.#largePacketSlot?.leave()
    this.#largePacketSlot = undefined
    return this.#packetSize
  }

  get upgrades(): readonly string[] {
    return none
  }

  get readAt(): number | undefined {
    return this.#sendQueue?.readAt
  }

  get #mostUnread(): number {
    return this.receiver?.mostUnreadBytes ?? mostUnreadOfStrangers
  }

  // Little data is sent at once. Everything else is held by reference and passed on piece by piece, as the
  // client reads: the library would copy it whole for each.
  write(packets: readonly Frame[]): boolean {
    if (isLittle(packets) && (this.#sendQueue?.isEmpty ?? true) && this.#ws.getBufferedAmount() === 0) {
      this.#sendSmall(packets)
      if (this.#ws.getBufferedAmount() > 0) this.#count()
      return true
    }
    this.#sendQueue ??= new SendQueue(this, this.#deps)
    this.#sendQueue.hold(this.#ws.getBufferedAmount())
    const isNear = this.#sendQueue.push(packets, { most: this.#mostUnread, isBlocked: this.#ws.getBufferedAmount() > 0 })
    if (isNear) this.#goOn()
    return isNear
  }

  /** The client has read some of what was written. */
  drained(): void {
    const isAllRead = this.#ws.getBufferedAmount() === 0
    this.#count()
    this.#sendQueue?.read()
    if (this.#ending && isAllRead) this.#hangUp(this.#ending)
    else this.#goOn()
  }

  /** The client sent a WebSocket ping. The library has answered it already, whether or not the answers are read. */
  pinged(): void {
    this.#pingPace ??= new Pace(this.#deps)
    // After a close frame the library would continue to read and drop data.
    if (this.#ending || !this.receiver || this.#pingPace.take(0) !== 'within') this.evict()
    else if (this.#ws.getBufferedAmount() - pieceBytes > this.#mostUnread) this.receiver.close('slow-consumer')
    else this.#count()
  }

  // The library would hold unread data for minutes, and uncounted.
  end(reason: CloseReason): void {
    // Earlier packets of the same turn, such as rejections, are still delivered; nobody waits for a large
    // message.
    if (reason !== 'slow-consumer' && this.#sendQueue) this.#sendSmall(this.#sendQueue.takeSmall())
    this.#sendQueue?.clear()
    this.#count()
    // If the client ignores the close, the library would hold it for many seconds, and an unauthenticated
    // place would be worth more than one.
    if (reason === 'crowded') this.evict()
    else if (reason !== 'server-shutdown' && this.#ws.getBufferedAmount() > 0) {
      this.#ending = reason
      this.#cancelLinger = this.#deps.clock.after(lingerMs, () => this.evict())
    } else this.#hangUp(reason)
  }

  evict(): void {
    if (!this.#isClosed) this.#ws.close()
  }

  /** The WebSocket is closed. */
  closed(why: string): void {
    this.#isClosed = true
    if (why === tooLarge && this.#isSignedIn && this.#packetSize !== 'large' && this.receiver)
      this.#deps.largePacketSlots.want(this.receiver.network, this.#packetSize === 'usual' ? 'large' : 'usual')
    this.#largePacketSlot?.leave()
    this.#cancelLinger?.()
    this.#sendQueue?.clear()
    this.#sendQueue?.hold(0)
    this.receiver?.gone()
  }

  /** A message of this many bytes has arrived completely. */
  took(bytes: number): void {
    if (bytes > (this.#packetSize === 'large' ? packetSizes.usual : packetSizes.small)) this.#largePacketSlot?.use()
  }

  #hangUp(reason: CloseReason): void {
    this.#ws.end(closeCodes[reason], reason)
  }

  /** What the library still holds is read first, and it reports when it is. */
  #goOn(): void {
    if (this.#isInLine || !this.#sendQueue || this.#sendQueue.isEmpty || this.#ws.getBufferedAmount() > 0) return
    this.#isInLine = true
    this.#deps.turn.piece(() => this.#sendPiece(this.#sendQueue))
  }

  #sendPiece(queue: SendQueue | undefined): void {
    this.#isInLine = false
    if (!queue || this.#isClosed || this.#ending) return
    this.#ws.cork(() => {
      let room = pieceBytes
      for (let piece = queue.take(room); piece; piece = room > 0 ? queue.take(room) : undefined) {
        this.#send(piece)
        room -= typeof piece === 'string' ? piece.length : piece.bytes.length
      }
    })
    this.#count()
    if (this.#ws.getBufferedAmount() === 0) queue.read()
    this.#goOn()
  }

  #sendSmall(packets: readonly string[]): void {
    // Most are alone. Corking only joins several, and is a tenth of what a call costs.
    const [only] = packets
    if (packets.length === 1 && only !== undefined) this.#ws.send(only)
    else
      this.#ws.cork(() => {
        for (const packet of packets) this.#ws.send(packet)
      })
  }

  #send(piece: Piece): void {
    if (typeof piece === 'string') this.#ws.send(piece)
    else if (piece.isFirst) this.#ws.sendFirstFragment(piece.bytes)
    else if (piece.isLast) {
      this.#ws.sendLastFragment(piece.bytes)
      piece.of.sent()
    } else this.#ws.sendFragment(piece.bytes)
  }

  #count(): void {
    this.#sendQueue ??= new SendQueue(this, this.#deps)
    this.#sendQueue.hold(this.#ws.getBufferedAmount())
  }
}

function isLittle(packets: readonly Frame[]): packets is readonly string[] {
  let length = 0
  for (const packet of packets) {
    if (typeof packet !== 'string') return false
    length += packet.length
  }
  return length <= pieceBytes
}
