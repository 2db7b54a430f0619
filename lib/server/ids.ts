import { randomFillSync } from 'node:crypto'

const alphabet = Buffer.from('abcdefghijklmnopqrstuvwxyz234567')
const idLength = 24

// Random bytes for many ids are requested at once: each request is a system call.
const pool = Buffer.alloc(idLength * 128)
let taken = pool.length

/**
 * A new id: 24 characters of lower-case base32, 120 random bits. Safe in URLs and without a colon, which
 * ends an id in method names.
 */
export function newId(): string {
  if (taken === pool.length) {
    randomFillSync(pool)
    for (let at = 0; at < pool.length; at += 1) pool[at] = alphabet[(pool[at] ?? 0) & 31] ?? 0
    taken = 0
  }
  taken += idLength
  return pool.toString('latin1', taken - idLength, taken)
}
