import { randomBytes } from 'node:crypto'

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** A new id: 24 characters of lower-case base32, 120 random bits. Safe in URLs and without a colon, which ends an id in method names. */
export function newId(): string {
  let id = ''
  for (const byte of randomBytes(24)) id += alphabet[byte & 31]
  return id
}
