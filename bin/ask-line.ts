import { CannotStart } from '../lib/exit.ts'
import { typed } from '../lib/wrapper/home/own-process.ts'

/** The server's refusal, with the command that lists valid names. */
export async function pointingTo<T>(list: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof CannotStart) || error.exitCode !== 1) throw error
    throw new CannotStart(`${error.message.replace(/\w$/, '$&.')} See the list with:\n  ${typed(list)}`, 1, { cause: error })
  }
}
