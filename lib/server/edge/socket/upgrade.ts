import type { Clock } from '../../../async/clock.ts'
import type { CloseReason } from '../../hub/connection.ts'
import { mostUnreadOfStrangers, type Receiver } from './engineio.ts'
import type { PollingClient } from './polling.ts'
import type { WebSocketTransport } from './websocket.ts'

const upgradeWithinMs = 10_000

/**
 * A WebSocket that is to take over from polling: it proves that it works, the client ends its last poll and
 * announces the upgrade. An error before that ends only the WebSocket, and the connection continues by
 * polling.
 */
export class Probe implements Receiver {
  readonly mostUnreadBytes = mostUnreadOfStrangers
  readonly mostBytes = '2probe'.length
  readonly #socket: WebSocketTransport
  readonly #client: PollingClient
  readonly #cancelDeadline: () => void
  #isProven = false

  /** Closes the WebSocket at once if the connection has already upgraded or is about to. */
  static begin(socket: WebSocketTransport, client: PollingClient, clock: Clock): void {
    const { connection, transport } = client
    if (!connection.isOn(transport) || transport.probe) socket.end('bad-packet')
    else if (connection.account !== undefined && !socket.signedIn(connection.account, connection.network)) socket.end('try-again')
    else {
      const probe = new Probe(socket, client, clock)
      transport.probe = probe
      socket.receiver = probe
    }
  }

  private constructor(socket: WebSocketTransport, client: PollingClient, clock: Clock) {
    this.#socket = socket
    this.#client = client
    this.#cancelDeadline = clock.after(upgradeWithinMs, () => this.close('connect-timeout'))
  }

  get network(): string {
    return this.#client.connection.network
  }

  receive(packet: string): void {
    if (packet === '2probe' && !this.#isProven) this.#prove()
    else if (packet === '5' && this.#isProven) this.#finish()
    else this.close('bad-packet')
  }

  receiveBinary(): void {
    this.close('bad-packet')
  }

  /** The connection stays on polling, or is over. */
  close(reason: CloseReason): void {
    this.gone()
    this.#socket.receiver = undefined
    this.#socket.end(reason)
  }

  gone(): void {
    this.#cancelDeadline()
    this.#client.transport.probe = undefined
    this.#client.transport.isReleasing = false
  }

  #prove(): void {
    this.#isProven = true
    // A WebSocket that just opened accepts these few bytes; one that does not will not upgrade either.
    if (this.#socket.write(['3probe'])) this.#client.transport.release()
    else this.close('bad-packet')
  }

  #finish(): void {
    const { connection, transport } = this.#client
    this.gone()
    this.#socket.receiver = connection
    connection.moveTo(this.#socket, transport.takeUnread())
  }
}
