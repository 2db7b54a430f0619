import { decodeBase64 } from '../../base64.ts'
import type { Frame } from '../../hub/frames.ts'
import type { EngineConnection } from './engineio.ts'

/** Between the packets of a long-polling body. */
const separator = '\x1e'
/** More than a client gathers during one request, and few enough not to keep everyone waiting. */
const mostPackets = 65_536

/** The parts of a long-polling answer. Large frames are not copied. */
export function payloadOf(frames: readonly Frame[]): Buffer[] {
  const parts: Buffer[] = []
  let text = ''
  for (const [index, frame] of frames.entries()) {
    if (index > 0) text += separator
    if (typeof frame === 'string') text += frame
    else {
      parts.push(Buffer.from(text), frame.bytes)
      text = ''
    }
  }
  return [...parts, Buffer.from(text)].filter(part => part.length > 0)
}

/** Passes the packets of a long-polling body to their connection, up to the first that ends it. */
export function receivePayload(connection: EngineConnection, payload: string): void {
  let start = 0
  // Not `split`: a body of separators only would become a hundred million strings.
  for (let count = 1; connection.endedBy === undefined; count += 1) {
    const next = payload.indexOf(separator, start)
    if (count > mostPackets) connection.close('bad-packet')
    else receivePacket(connection, payload.slice(start, next === -1 ? undefined : next))
    if (next === -1) return
    start = next + 1
  }
}

function receivePacket(connection: EngineConnection, packet: string): void {
  if (packet[0] !== 'b') {
    connection.receive(packet)
    return
  }
  const bytes = decodeBase64(packet.slice(1))
  if (bytes) connection.receiveBinary(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  else connection.close('bad-packet')
}
