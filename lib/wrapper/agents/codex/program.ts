import { CannotStart } from '../../../exit.ts'
import { findProgram, isProgram } from '../find-program.ts'

export const howToGet = 'Name its file in CODEX_BIN, or install it with:\n  npm install --global @openai/codex'

/** The Codex of this computer, or undefined when there is none. Throws CannotStart when CODEX_BIN names something else. */
export function findCodex(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env['CODEX_BIN']
  if (!named) return findProgram('codex', env)
  if (isProgram(named)) return named
  throw new CannotStart(`CODEX_BIN names ${named}, which is no program.`)
}
