import { maxPacketBytes } from '../../../protocol/wire/handshake.ts'

/**
 * The maximum packet size of a WebSocket: the library fixes it when the socket opens, and collects a packet
 * out of our sight.
 */
export const widths = {
  /** For an unauthenticated one. */
  narrow: 64 * 1024,
  /** What existing clients were written for. */
  usual: 1024 * 1024,
  /** For the few that sent something larger. */
  wide: maxPacketBytes
} as const

export type Width = keyof typeof widths
