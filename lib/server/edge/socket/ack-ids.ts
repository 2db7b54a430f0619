import { randomInt } from 'node:crypto'

/** Some clients read an id as a signed 32-bit number. */
const mostId = 2 ** 31 - 1

/**
 * Ids of requests to clients, none repeated for a long time: a client that reconnects may still answer a
 * request from the previous connection, or the previous server.
 */
export function createAckIds(first = randomInt(2 ** 30)): () => number {
  let last = first
  return () => {
    last = last < mostId ? last + 1 : 0
    return last
  }
}
