import { isSingleFile, programNameAt } from '../../assets.ts'

/** How to run this very program with other arguments: from the sources, from the package, or as one file. */
export function ownProgram(args: readonly string[]): { command: string; args: string[] } {
  const [, script] = process.argv
  const before = isSingleFile() || script === undefined ? [] : [...process.execArgv, script]
  return { command: process.execPath, args: [...before, ...args] }
}

/** A command of this program as the person at the terminal has to type it. */
export function typed(command: string): string {
  return `${programNameAt(here())} ${command}`
}

/** A directory that is gone is no place in which sources are. */
function here(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}
