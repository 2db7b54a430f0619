import { ConnectionLost } from './failure.ts'

/**
 * How long a caller waits for a connection that is free, or for a database that is away, and how long a statement waits
 * for a lock. Whoever asked a server learns within two seconds that it is busy, and this leaves time for the rest.
 */
export const patienceMs = 1_500

/** A connection that is not there in time is no error of its own: whoever opened it may use it later. */
export async function inTime<T>(opening: Promise<T>, until: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new ConnectionLost('The database does not answer.')), Math.max(0, until - performance.now()))
  try {
    return await Promise.race([opening, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** When something last ended. Where things end it is only slow, and nobody who waits there is rejected. */
export class Progress {
  #madeAt = 0

  make(): void {
    this.#madeAt = performance.now()
  }

  /** Until when somebody waits who would give up then if nothing ended. */
  extend(until: number): number {
    return Math.max(until, this.#madeAt + patienceMs)
  }
}
