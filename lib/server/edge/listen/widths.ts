import { maxPacketBytes } from '../../../protocol/wire/handshake.ts'

/** How large a packet a WebSocket takes: the library is told when it opens, and collects a packet out of our sight. */
export const widths = {
  /** A stranger's. */
  narrow: 64 * 1024,
  /** What existing clients were written for. */
  usual: 1024 * 1024,
  /** Of the few that sent something larger. */
  wide: maxPacketBytes
} as const

export type Width = keyof typeof widths
