import { maxPacketBytes } from '../../../protocol/wire/handshake.ts'

/**
 * The maximum packet size of a WebSocket: the library fixes it when the socket opens, and collects a packet
 * out of our sight.
 */
export const packetSizes = {
  /** For an unauthenticated one. */
  small: 64 * 1024,
  /** What existing clients were written for. */
  usual: 1024 * 1024,
  /** For the few that sent something larger. */
  large: maxPacketBytes
} as const

export type PacketSize = keyof typeof packetSizes
