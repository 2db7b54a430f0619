import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The files bundled in the single-file program, by the names `readAsset` accepts. */
export interface Embedded {
  read(name: string): Uint8Array | undefined
  names(): readonly string[]
}

/** Names of the native addons bundled in the single-file program. */
export type AddonName = 'uws.node' | 'better_sqlite3.node' | 'zigpty.node'

let embedded: Embedded | undefined
const addonPrefix = 'afield-addon-'
const neededForMs = 60_000
const addons = new Map<AddonName, object>()

// Some systems mount the temporary directory noexec.
const addonDirectories = [tmpdir(), join(homedir(), '.afield')]

/** Called once, first, by the single-file program; from then on nothing is read from disk. */
export function embedAssets(files: Embedded): void {
  embedded = files
}

/** True in the single-file program, where `process.execPath` is Afield itself and there are no packages on disk. */
export function isSingleFile(): boolean {
  return embedded !== undefined
}

/**
 * The content of a bundled file: `sqlite/0001_start.sql`, `web/index.html` (the built app), `docs/https.md`, `package.json`.
 * Undefined if there is no such file.
 */
export function readAsset(name: string): Buffer | undefined {
  if (embedded) {
    const bytes = embedded.read(name)
    return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
  const path = onDisk(name)
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path) : undefined
}

/** The names, sorted, of all files under a folder such as `web/` or `sqlite/`; empty if there is none. */
export function listAssets(folder: `${string}/`): string[] {
  const names = embedded ? embedded.names().filter(name => name.startsWith(folder)) : filesUnder(folder)
  return names.toSorted()
}

/** The version of Afield that is running. */
export function version(): string {
  const manifest: { version?: unknown } = JSON.parse(readAsset('package.json')?.toString() ?? '{}')
  return typeof manifest.version === 'string' ? manifest.version : 'unknown'
}

/** What a person types before a command of this program, as it was installed here. */
export function programName(): 'afield' | 'node build.mjs start' {
  return import.meta.url.endsWith('.ts') && !isSingleFile() ? 'node build.mjs start' : 'afield'
}

/**
 * The same for the person's current directory: a program run from its sources is found from any other
 * directory by its full path, and a single file outside PATH as it was started.
 */
export function programNameAt(directory = here()): string {
  if (isSingleFile()) return nameAsStarted(process.argv0, process.execPath, process.env['PATH'])
  const name = programName()
  const sources = onDisk('.')
  if (name === 'afield' || relative(sources, directory) === '') return name
  const file = join(sources, 'build.mjs')
  return `node ${/^[\w./:\\@+-]+$/.test(file) ? file : `"${file}"`} start`
}

/** A deleted directory contains no sources. */
function here(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/** Exported for its test. A name without a directory was found in PATH. */
export function nameAsStarted(started: string, file: string, path = ''): string {
  const isInPath = path.split(delimiter).includes(dirname(file)) && /^afield(\.exe)?$/.test(basename(file))
  if (isInPath || !/[\\/]/.test(started)) return 'afield'
  return /^[\w./:\\@+-]+$/.test(started) ? started : `"${started}"`
}

/** A native addon of the single-file program; undefined when the packages are on disk and load their own. */
export function embeddedAddon(name: AddonName): object | undefined {
  const bytes = embedded?.read(`native/${name}`)
  if (!bytes) return undefined
  const addon = addons.get(name) ?? loadAddon(bytes, name)
  addons.set(name, addon)
  return addon
}

/**
 * Thrown when no directory can be written to and run from; the message is one sentence for the person at
 * the terminal.
 */
export class NoPlaceForAddons extends Error {
  override readonly name = 'NoPlaceForAddons'
}

/**
 * Loads a native addon from its bytes: the system only loads files, so it gets a private one that is
 * removed again.
 */
export function loadAddon(bytes: Uint8Array, name: AddonName): object {
  for (const directory of addonDirectories) {
    try {
      sweep(directory)
      return loadFrom(directory, bytes, name)
    } catch (error) {
      // An addon that is itself broken fails in every directory.
      if (isAtFault(error)) throw error
    }
  }
  const places = addonDirectories.join(', ')
  throw new NoPlaceForAddons(
    `Afield needs a directory that it may write to and run code from, and none of these is one: ${places}. Set TMPDIR to one, or mount one without noexec.`
  )
}

function isAtFault(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ERR_DLOPEN_FAILED' && !/failed to map segment|not permitted|denied/i.test(message)
}

/**
 * Adds a directory, such as the data directory, from which native addons may be loaded if the temporary one
 * refuses.
 */
export function allowAddonsIn(directory: string): void {
  if (!addonDirectories.includes(directory)) addonDirectories.push(directory)
}

function loadFrom(directory: string, bytes: Uint8Array, name: AddonName): object {
  const made = makeDirectory(directory)
  let isLoaded = false
  try {
    const exports = loadWithin(directory, bytes, name)
    isLoaded = true
    return exports
  } finally {
    if (!isLoaded) removeEmpty(made)
  }
}

/**
 * Returns the created directories, the innermost last. Not with `recursive`, which never returns for a name
 * in `/proc`.
 */
function makeDirectory(directory: string): string[] {
  if (existsSync(directory)) return []
  const above = dirname(directory) === directory ? [] : makeDirectory(dirname(directory))
  mkdirSync(directory, { mode: 0o700 })
  return [...above, directory]
}

function removeEmpty(made: readonly string[]): void {
  try {
    for (const directory of made.toReversed()) rmdirSync(directory)
  } catch {}
}

function loadWithin(directory: string, bytes: Uint8Array, name: AddonName): object {
  const own = mkdtempSync(join(directory, addonPrefix))
  try {
    writeFileSync(join(own, name), bytes, { mode: 0o700 })
    const holder: { exports: object } = { exports: {} }
    process.dlopen(holder, join(own, name))
    return holder.exports
  } finally {
    removeQuietly(own)
  }
}

/** Removes leftovers of starts that were killed midway. Each needs its file for a few milliseconds. */
function sweep(directory: string): void {
  if (!existsSync(directory)) return
  for (const left of readdirSync(directory).filter(file => file.startsWith(addonPrefix))) {
    const path = join(directory, left)
    const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - madeAt > neededForMs) removeQuietly(path)
  }
}

// Windows keeps the file of a loaded library; its own cleanup of the temporary directory removes it later.
function removeQuietly(directory: string): void {
  try {
    rmSync(directory, { recursive: true })
  } catch {}
}

function filesUnder(folder: string): string[] {
  const top = onDisk(folder)
  if (!statSync(top, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => folder + relative(top, join(entry.parentPath, entry.name)).split(sep).join('/'))
}

// In the sources `web/` is what the app is built from; in the published package it is the app.
function onDisk(name: string): string {
  const runsFromSource = import.meta.url.endsWith('.ts')
  return fileURLToPath(new URL(`../${runsFromSource && name.startsWith('web/') ? 'build/' : ''}${name}`, import.meta.url))
}
