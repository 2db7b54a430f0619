import { randomInt } from 'node:crypto'

/** Some clients read an id as 32 bits with a sign. */
const mostId = 2 ** 31 - 1

/**
 * Ids of what is asked of clients, none used twice for a long time: a client that comes back may still answer what it was
 * asked on the connection before, or by the server before this one.
 */
export function createAckIds(first = randomInt(2 ** 30)): () => number {
  let last = first
  return () => {
    last = last < mostId ? last + 1 : 0
    return last
  }
}
