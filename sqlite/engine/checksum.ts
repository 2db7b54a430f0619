import { crc32 } from 'node:zlib'

/** What is read of a message to know whether it is the one that was stored. */
export interface Checked {
  seq: number
  sealed: string
  /** Null in rows older than checksums. */
  crc: number | null
}

/**
 * CRC-32 finds every flip of up to 32 bits in a row, which is what disks and memory do; who changes rows on purpose is
 * found by the clients, to whom they are sealed. It begins with where the row belongs, such as session and seq, so a row
 * in the wrong place fails too.
 */
export function checksumOf(place: number, at: number, ...values: readonly (string | Uint8Array | null)[]): number {
  let crc = (Math.imul(place, 0x9e3779b1) ^ at) >>> 0
  for (const value of values) crc = crc32(value ?? '\0', crc)
  return crc
}

export function isSound(session: number, { seq, sealed, crc }: Checked): boolean {
  return crc === null || crc === checksumOf(session, seq, sealed)
}
