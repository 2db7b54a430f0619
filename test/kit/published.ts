// Programs that others publish on npm, with which tests run Afield: coding agents and the clients of Happy.
//   node test/kit/published.ts   fetches them (1.9 GB, Linux x64) into $XDG_CACHE_HOME/afield-tests, by default ~/.cache/afield-tests
// `test/published/` names their versions and, in its lockfile, the integrity of each package; no install script of theirs runs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const source = join(import.meta.dirname, '..', 'published')
const lists = ['package.json', 'package-lock.json']

export const publishedFolder = folderOf(source)

export const isPublishedThere = () => isThere(publishedFolder)

/** The path of a file in a package, such as `happy/bin/happy.mjs`. */
export const published = (path: string) => join(publishedFolder, 'node_modules', path)

/** Throws a sentence for people if the registry does not give one of them. */
export function fetchPublished(): void {
  // Its own install script, which unpacks tools that are in the package.
  fetchPackages(source, folder => succeed(folder, process.execPath, [published('happy/scripts/unpack-tools.cjs')]))
}

/** Installs what the lists in a folder of ours name, and returns where. Throws like `fetchPublished`. */
export function fetchPackages(source: string, finish = (_folder: string) => {}): string {
  const folder = folderOf(source)
  if (isThere(folder)) return folder
  mkdirSync(folder, { recursive: true })
  for (const name of lists) copyFileSync(join(source, name), join(folder, name))
  // Unlike `npm ci`, it accepts a lockfile without the optional packages of other systems; it checks integrity, too.
  succeed(folder, 'npm', ['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'])
  const different = unlikeLocked(source, folder)
  if (different.length > 0) throw new Error(`npm installed others than the package-lock.json of ${source} names: ${different.join(', ')}.`)
  finish(folder)
  writeFileSync(markOf(folder), '')
  return folder
}

/** Never inside the checkout. Other versions have another one. */
function folderOf(source: string): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'afield-tests', nameOf(source))
}

/** Written last, so that nothing uses what an interrupted installation left. */
function markOf(folder: string): string {
  return join(folder, 'complete')
}

function isThere(folder: string): boolean {
  return existsSync(markOf(folder))
}

/** What npm installed although it is not in our lockfile, or is there with another integrity. */
function unlikeLocked(source: string, folder: string): string[] {
  const integrities = (path: string): Record<string, { integrity?: string }> => JSON.parse(readFileSync(path, 'utf8')).packages
  const locked = integrities(join(source, 'package-lock.json'))
  const installed = integrities(join(folder, 'node_modules', '.package-lock.json'))
  return Object.keys(installed).filter(
    path => installed[path]?.integrity === undefined || installed[path].integrity !== locked[path]?.integrity
  )
}

function nameOf(folder: string): string {
  const hash = createHash('sha256')
  for (const name of lists) hash.update(readFileSync(join(folder, name)))
  return hash.digest('hex').slice(0, 12)
}

function succeed(cwd: string, command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' })
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
