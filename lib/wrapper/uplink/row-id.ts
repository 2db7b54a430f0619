import { createHash } from 'node:crypto'

/** The name under which the server stores what a row of an agent's own history says: always the same, and like those of `newId`. */
export function idOfRow(row: string): string {
  const digest = createHash('sha256').update(row).digest('hex')
  return `r${BigInt(`0x${digest}`).toString(36).padStart(50, '0').slice(-23)}`
}
