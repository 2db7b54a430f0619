import { DeadlineExceeded, withDeadline } from '../../lib/async/deadline.ts'

/** What a scenario is played with. */
export interface Stage {
  /** Entry file of the CLI. */
  entry: string
  /** An empty folder for everything the scenario writes. */
  folder: string
  steps: Steps
  /** How the app answers the terminal: 1 hands over the account secret, 2 only the key to write to. */
  form: 1 | 2
  /** What to end afterwards, last one first. */
  teardown(end: () => unknown): void
}

/** Runs what a scenario is made of, one after the other, and says of each how it went and how long it took. */
export class Steps {
  readonly #began = performance.now()
  readonly #print: (line: string) => void
  #passed = 0
  #failed = 0

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  /** What the work answers. A failed step ends the scenario: the ones after it stand on it. */
  async step<T>(name: string, work: () => Promise<T>, limitMs = 30_000): Promise<T> {
    const from = performance.now()
    try {
      const result = await withDeadline(limitMs, work)
      this.#passed++
      this.#print(`ok      ${since(from)}  ${name}`)
      return result
    } catch (error) {
      this.#failed++
      this.#print(`failed  ${since(from)}  ${name}`)
      throw error instanceof DeadlineExceeded ? new Error(`${name}: ${error.message}`, { cause: error }) : error
    }
  }

  note(line: string): void {
    this.#print(line)
  }

  /** Says why a step was not taken. */
  skip(name: string, why: string): void {
    this.#print(`skipped ${' '.repeat(8)}  ${name}: ${why}`)
  }

  summary(): string {
    return `${this.#passed} ok, ${this.#failed} failed in ${((performance.now() - this.#began) / 1000).toFixed(1)} s`
  }
}

function since(from: number): string {
  return `${Math.round(performance.now() - from)} ms`.padStart(8)
}
