import { maxPacketBytes } from '../../protocol/wire/handshake.ts'
import { type Packet, parsePacket, type Unfinished } from './packets.ts'

/** Makes packets of the messages of one connection: most are one text, some are a text and the bytes that belong into it. */
export class PacketReader {
  private unfinished: Unfinished | undefined
  private attachments: Buffer[] = []
  private attachedBytes = 0

  /** A whole packet, or that more is to come. Undefined when the connection says what nobody may say. Never throws. */
  read(data: string | Buffer): Packet | 'more' | undefined {
    return typeof data === 'string' ? this.readText(data) : this.readBytes(data)
  }

  private readText(text: string): Packet | 'more' | undefined {
    // The bytes that were announced come before anything else.
    const packet = this.unfinished ? undefined : parsePacket(text)
    if (packet?.type !== 'unfinished') return packet
    this.unfinished = packet
    return 'more'
  }

  private readBytes(bytes: Buffer): Packet | 'more' | undefined {
    const { unfinished, attachments } = this
    this.attachedBytes += bytes.length
    if (!unfinished || this.attachedBytes > maxPacketBytes) return undefined
    attachments.push(bytes)
    if (attachments.length < unfinished.attachmentCount) return 'more'
    this.unfinished = undefined
    this.attachments = []
    this.attachedBytes = 0
    return unfinished.finish(attachments)
  }
}
