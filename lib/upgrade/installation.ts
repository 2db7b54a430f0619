import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isSingleFile } from '../assets.ts'
import { CannotStart } from '../exit.ts'

/**
 * The file of this program, which an upgrade replaces. Throws `CannotStart`, with what to do instead, if this program was
 * installed in a way that has its own upgrades.
 */
export function ownProgramFile(): string {
  if (!isSingleFile()) throw new CannotStart(instead(fileURLToPath(import.meta.url)))
  const file = withoutPrevious(realpathSync(process.execPath))
  const owner = packageOwning(file)
  if (owner === undefined) return file
  throw new CannotStart(
    `${file} belongs to the Debian package ${owner}: install the newer package with "sudo apt install ./${owner}_<version>.deb", and go back the same way with the older one.`
  )
}

/** The name under which the replaced program is kept. */
export function previousOf(file: string): string {
  return process.platform === 'win32' ? file.replace(/(\.exe)?$/i, '.previous$1') : `${file}.previous`
}

/** Run as the previous program, when the newer one cannot even go back, this is about the newer one. */
function withoutPrevious(file: string): string {
  return file.replace(/\.previous(\.exe)?$/i, '$1')
}

function instead(source: string): string {
  if (!/[\\/]node_modules[\\/]/.test(source)) {
    return `This Afield runs from its sources: update ${dirname(dirname(dirname(source)))} with git, run npm ci, and restart the server.`
  }
  return 'This Afield was installed with npm: run "npm install -g afield@<version>" and restart the server; an older version goes back.'
}

/** The Debian package that a file belongs to; undefined elsewhere, and for a file that is in none. */
export function packageOwning(file: string): string | undefined {
  if (process.platform !== 'linux' || !file.startsWith('/usr/') || file.startsWith('/usr/local/')) return undefined
  try {
    const said = execFileSync('dpkg-query', ['--search', file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return /^([a-z0-9][a-z0-9+.-]+)(?::\w+)?: /m.exec(said)?.[1]
  } catch {
    // No dpkg here, or no such package.
    return undefined
  }
}
