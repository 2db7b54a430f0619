// Programs that others publish on npm, with which tests run Afield: coding agents and the clients of Happy.
//   node test/kit/published.ts   fetches them (1.5 GB, Linux x64) into $XDG_CACHE_HOME/afield-tests, by default ~/.cache/afield-tests
// `test/published/` names their versions and, in its lockfile, the integrity of each package; no install script of theirs runs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const source = join(import.meta.dirname, '..', 'published')
const lists = ['package.json', 'package-lock.json']

/** Their folder, never inside the checkout. Other versions have another one. */
export const publishedFolder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'afield-tests', nameOf(source))

/** Written last, so that nothing uses what an interrupted installation left. */
const mark = join(publishedFolder, 'complete')

export const isPublishedThere = () => existsSync(mark)

/** The path of a file in a package, such as `happy/bin/happy.mjs`. */
export const published = (path: string) => join(publishedFolder, 'node_modules', path)

/** Throws a sentence for people if the registry does not give one of them. */
export function fetchPublished(): void {
  if (isPublishedThere()) return
  mkdirSync(publishedFolder, { recursive: true })
  for (const name of lists) copyFileSync(join(source, name), join(publishedFolder, name))
  // Unlike `npm ci`, it accepts a lockfile without the optional packages of other systems; it checks integrity, too.
  succeed('npm', ['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'])
  const different = unlikeLocked()
  if (different.length > 0) throw new Error(`npm installed others than test/published/package-lock.json names: ${different.join(', ')}.`)
  // Its own install script, which unpacks tools that are in the package.
  succeed(process.execPath, [published('happy/scripts/unpack-tools.cjs')])
  writeFileSync(mark, '')
}

/** What npm installed although it is not in our lockfile, or is there with another integrity. */
function unlikeLocked(): string[] {
  const integrities = (path: string): Record<string, { integrity?: string }> => JSON.parse(readFileSync(path, 'utf8')).packages
  const locked = integrities(join(source, 'package-lock.json'))
  const installed = integrities(join(publishedFolder, 'node_modules', '.package-lock.json'))
  return Object.keys(installed).filter(
    path => installed[path]?.integrity === undefined || installed[path].integrity !== locked[path]?.integrity
  )
}

function nameOf(folder: string): string {
  const hash = createHash('sha256')
  for (const name of lists) hash.update(readFileSync(join(folder, name)))
  return hash.digest('hex').slice(0, 12)
}

function succeed(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: publishedFolder, stdio: 'inherit', shell: process.platform === 'win32' })
  if (error) throw error
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${status}.`)
}

if (process.argv[1] === import.meta.filename) {
  try {
    fetchPublished()
    console.log(publishedFolder)
  } catch (error) {
    console.error(
      `The published agents and clients could not be fetched from the npm registry: ${error instanceof Error ? error.message : error}`
    )
    process.exitCode = 1
  }
}
