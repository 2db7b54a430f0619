import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Without 0, 1, O and I, which people confuse: 32 letters, five bits each.
const letters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'

interface SetupCode {
  code: string
  file: string
  /** Called once the owner has an account: the code is no longer needed. */
  discard(): void
}

/** The code for the first sign-up: 40 bits, stored across restarts in a file only the server's user can read. */
export function openSetupCode(dataDirectory: string): SetupCode {
  const file = join(dataDirectory, 'setup-code')
  const code = readCode(file) ?? writeCode(file, dataDirectory)
  return { code, file, discard: () => rmSync(file, { force: true }) }
}

function readCode(file: string): string | undefined {
  try {
    const code = readFileSync(file, 'utf8').trim()
    return /^[2-9A-Z]{4}-[2-9A-Z]{4}$/.test(code) ? code : undefined
  } catch {
    return undefined
  }
}

function writeCode(file: string, directory: string): string {
  const drawn = Array.from(randomBytes(8), byte => letters[byte & 31]).join('')
  const code = `${drawn.slice(0, 4)}-${drawn.slice(4)}`
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(file, `${code}\n`, { mode: 0o600 })
  return code
}
