import { CannotStart } from '../../../exit.ts'
import { findProgram, isProgram } from '../find-program.ts'

/** The opencode of this computer. Throws CannotStart when there is none. */
export function findOpencode(env: Readonly<Record<string, string | undefined>>): string {
  const named = env['OPENCODE_BIN_PATH'] || env['OPENCODE_BIN']
  if (named) {
    if (isProgram(named)) return named
    throw new CannotStart(`OPENCODE_BIN_PATH names ${named}, which is no program.`)
  }
  const found = findProgram('opencode', env)
  if (found === undefined)
    throw new CannotStart(
      'There is no command opencode here. Name its file in OPENCODE_BIN_PATH, or install it with:\n  npm install --global opencode-ai'
    )
  return found
}
