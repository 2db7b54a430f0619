import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deps } from '../../deps.ts'

// Without 0, 1, O and I, which people confuse: 32 letters, five bits each.
const letters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const nameInStore = 'setup-code'

interface SetupCode {
  code: string
  file: string
  /** Called once the owner has an account: the code is no longer needed. */
  discard(): Promise<void>
}

/**
 * The code for the first sign-up: 40 bits, the same at every instance and across restarts. Each instance has it in a file only
 * the server's user can read.
 */
export async function openSetupCode({ store }: Pick<Deps, 'store'>, dataDirectory: string): Promise<SetupCode> {
  const file = join(dataDirectory, 'setup-code')
  const own = readCode(file)
  const kept = await store.keepSecret(nameInStore, Buffer.from(own ?? drawCode()))
  const code = Buffer.from(kept).toString()
  if (own !== code) writeCode(file, code, dataDirectory)
  return {
    code,
    file,
    async discard() {
      rmSync(file, { force: true })
      await store.forgetSecret(nameInStore)
    }
  }
}

function readCode(file: string): string | undefined {
  try {
    const code = readFileSync(file, 'utf8').trim()
    return /^[2-9A-Z]{4}-[2-9A-Z]{4}$/.test(code) ? code : undefined
  } catch {
    return undefined
  }
}

function drawCode(): string {
  const drawn = Array.from(randomBytes(8), byte => letters[byte & 31]).join('')
  return `${drawn.slice(0, 4)}-${drawn.slice(4)}`
}

function writeCode(file: string, code: string, directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(file, `${code}\n`, { mode: 0o600 })
}
