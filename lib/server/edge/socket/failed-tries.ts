import { failureOf } from '../../refusals.ts'

const mostTries = 5
/** How many are remembered, the newest; a lost one only gets more tries. */
const mostRemembered = 1_000

/** It failed for the same unexpected reason so often that nobody should try again. */
export class Hopeless extends Error {
  override readonly name = 'Hopeless'
}

/** Counts unexpected failures, such as of a message that meets a bug and that a client sends again on each connection. */
export class FailedTries {
  readonly #tries = new Map<string, number>()

  /** Rejects as `work` does; with `Hopeless` from the fifth unexpected failure of this name on. */
  async count(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (failureOf(error)) throw error
      const tries = (this.#tries.get(name) ?? 0) + 1
      this.#tries.delete(name)
      this.#tries.set(name, tries)
      for (const [oldest] of this.#tries) {
        if (this.#tries.size <= mostRemembered) break
        this.#tries.delete(oldest)
      }
      if (tries < mostTries) throw error
      throw new Hopeless(`A message failed ${tries} times and is dropped.`, { cause: error })
    }
  }
}
