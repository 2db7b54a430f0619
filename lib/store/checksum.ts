import { crc32 } from 'node:zlib'

/** What is read of a message to verify that it is the one stored. */
export interface Checked {
  seq: number
  sealed: string
  /** Null in rows older than checksums. */
  crc: number | null
}

/**
 * CRC-32 finds every error burst of up to 32 bits, which is what disks and memory cause; deliberate
 * changes are found by the clients, since rows are sealed for them. It starts with the row's position,
 * such as session and seq, so a row in the wrong place fails too.
 */
export function checksumOf(place: number, at: number, ...values: readonly (string | Uint8Array | null)[]): number {
  let crc = (Math.imul(place, 0x9e3779b1) ^ at) >>> 0
  for (const value of values) crc = crc32(value ?? '\0', crc)
  return crc
}

export function isSound(session: number, { seq, sealed, crc }: Checked): boolean {
  return crc === null || crc === checksumOf(session, seq, sealed)
}
