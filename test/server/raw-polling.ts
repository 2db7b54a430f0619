import type { Test } from 'tap'
import type { Untyped } from '../kit/person.ts'
import { openWebSocket, type RawWebSocket } from './raw-websocket.ts'

export interface Polled {
  status: number
  text: string
  headers: Headers
}

/** Long-polling without a library between: each request is made by hand. */
export class RawPolling {
  readonly sid: string
  readonly #server: { url: string; port: number }

  constructor(server: { url: string; port: number }, sid: string) {
    this.#server = server
    this.sid = sid
  }

  get path(): string {
    return `/v1/updates/?EIO=4&transport=polling&sid=${this.sid}`
  }

  request(init: RequestInit): Promise<Polled> {
    return ask(this.#server, this.path, init)
  }

  get(): Promise<Polled> {
    return this.request({})
  }

  post(body: string | Uint8Array<ArrayBuffer>): Promise<Polled> {
    return this.request({ method: 'POST', body })
  }

  /** The packets of the next answer. */
  async packets(): Promise<string[]> {
    const { status, text } = await this.get()
    if (status !== 200) throw new Error(`Polling was answered with ${status} ${text}`)
    return text.split('\x1e')
  }

  /** Opens the WebSocket that is to take over. */
  openWebSocket(t: Test): Promise<RawWebSocket> {
    return openWebSocket(t, this.#server, `EIO=4&transport=websocket&sid=${this.sid}`)
  }
}

/** Asks the server and reads the whole answer. */
export async function ask(server: { url: string }, path: string, init: RequestInit = {}): Promise<Polled> {
  const response = await fetch(server.url + path, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export async function openPolling(server: { url: string; port: number }): Promise<RawPolling> {
  const { text } = await ask(server, '/v1/updates/?EIO=4&transport=polling')
  return new RawPolling(server, JSON.parse(text.slice(1)).sid)
}

/** A connection that polls and got through the handshakes of Engine.IO and Socket.IO. */
export async function openAcceptedPolling(server: { url: string; port: number }, auth: Record<string, unknown>): Promise<RawPolling> {
  const polling = await openPolling(server)
  await polling.post(`40${JSON.stringify(auth)}`)
  const [answer] = await polling.packets()
  if (!answer?.startsWith('40')) throw new Error(`Not accepted: ${answer}`)
  return polling
}

/** The numbers of the messages that these packets told of. */
export function seqsIn(packets: readonly string[]): number[] {
  const updates: Untyped[] = packets.filter(packet => packet.startsWith('42["update"')).map(packet => JSON.parse(packet.slice(2))[1].body)
  return updates.filter(({ t }) => t === 'new-message').map(({ message }) => message.seq)
}
