/** What a supervisor reads from our exit code: 75 may be retried, 70 and 78 need a person. */
export const exitCodes = { bug: 70, storage: 75, configuration: 78 } as const

/**
 * Thrown when a program cannot start or continue. The message is one sentence for the person at the
 * terminal: what is wrong and what to do; it is printed without a stack.
 */
export class CannotStart extends Error {
  readonly exitCode: number

  constructor(sentence: string, exitCode: number = exitCodes.configuration, options?: ErrorOptions) {
    super(sentence, options)
    this.name = 'CannotStart'
    this.exitCode = exitCode
  }
}
