import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CannotStart } from '../exit.ts'

/** Makes the data directory, private, with those above it. Throws CannotStart where that cannot be. */
export function makeDataDirectory(directory: string): void {
  try {
    makeDirectory(resolve(directory))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const who = process.getuid ? ` as user ${process.getuid()}` : ''
    throw new CannotStart(`The data directory ${directory} cannot be made${who} (${code}); choose another with --data.`, undefined, {
      cause: error
    })
  }
}

// Not with `recursive`: on file systems that answer ENOENT for a name in an existing directory, Node.js never comes back.
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return
  if (dirname(directory) !== directory) makeDirectory(dirname(directory))
  mkdirSync(directory, { mode: 0o700 })
}
