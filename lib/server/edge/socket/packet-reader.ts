import { maxPacketBytes } from '../../../protocol/wire/handshake.ts'
import { type Packet, parsePacket, type Unfinished } from './packets.ts'

/**
 * Assembles packets from the messages of one connection: most are one text, some are a text and its
 * attached bytes.
 */
export class PacketReader {
  #unfinished: { packet: Unfinished; attachments: Buffer[]; bytes: number } | undefined

  /** A complete packet, or that more is to come. Undefined for a protocol violation. Never throws. */
  read(data: string | Buffer): Packet | 'more' | undefined {
    return typeof data === 'string' ? this.#readText(data) : this.#readBytes(data)
  }

  #readText(text: string): Packet | 'more' | undefined {
    // Announced bytes come before anything else.
    const packet = this.#unfinished ? undefined : parsePacket(text)
    if (packet?.type !== 'unfinished') return packet
    this.#unfinished = { packet, attachments: [], bytes: 0 }
    return 'more'
  }

  #readBytes(bytes: Buffer): Packet | 'more' | undefined {
    const unfinished = this.#unfinished
    if (!unfinished) return undefined
    unfinished.bytes += bytes.length
    if (unfinished.bytes > maxPacketBytes) return undefined
    unfinished.attachments.push(bytes)
    if (unfinished.attachments.length < unfinished.packet.attachmentCount) return 'more'
    this.#unfinished = undefined
    return unfinished.packet.finish(unfinished.attachments)
  }
}
