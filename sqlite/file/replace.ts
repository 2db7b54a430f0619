import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CannotStart, exitCodes } from '../../lib/exit.ts'
import { codeOf } from './failure.ts'
import { syncDirectory } from './private-file.ts'

/**
 * The database file, and the directory of the small files that belong to it. They may be on different
 * disks.
 */
export interface Places {
  database: string
  data: string
}

type Side = keyof Places

/**
 * One file that is put in place; paths are relative to the directory of its side, so that these may be
 * mounted elsewhere.
 */
interface Entry {
  of: Side
  fresh: string
  place: string
  /** What is moved away first, in this order. */
  old: { from: string; to: string }[]
}

interface Plan {
  /** Unfinished directories, removed when the plan is complete. */
  fresh: { of: Side; directory: string }[]
  entries: Entry[]
}

/** What was unpacked: directories next to the targets, and the names in them. */
interface Unpacked {
  fresh: Record<Side, string>
  /** Its name in `fresh.database`. */
  databaseName: string
  /** Names in `fresh.data`. */
  names: readonly string[]
}

/**
 * Puts unpacked files in the place of the current ones, which are moved into a new directory of the
 * given name next to it. Both directories must be locked. The plan is written to disk first: if the
 * power fails in between, `settle` completes it. Throws `CannotStart` if it fails; then everything is
 * where it was, or the sentence says so. Returns the directories of what was moved.
 */
export function replace(places: Places, unpacked: Unpacked, asideName: string): string[] {
  const plan = planFor(places, unpacked, asideName)
  const asides = [...new Set(plan.entries.flatMap(({ of, old }) => old.map(({ to }) => dirname(join(baseOf(places, of), to)))))]
  try {
    note(places, plan)
    carryOut(places, plan)
  } catch (error) {
    const because = { cause: error }
    const code = codeOf(error) || 'unknown'
    try {
      takeBack(places, plan)
      conclude(places, plan)
    } catch {
      throw new CannotStart(
        `The backup could not be put in place (${code}), and not all of the previous data could be moved back; restore or start again to complete it. Parts of the previous data may be in ${asides.join(' and ')}.`,
        exitCodes.storage,
        because
      )
    }
    throw new CannotStart(`The backup could not be put in place (${code}); the previous data is where it was.`, exitCodes.storage, because)
  }
  conclude(places, plan)
  return asides
}

/**
 * Prefix of the directories for unpacking a backup, so that leftovers of a killed restore can be
 * recognized.
 */
export const freshPrefix = 'afield-restore-'

/**
 * Completes an interrupted replacement, or rolls it back if its files are gone, and removes what was
 * only unpacked. Both directories must be locked.
 */
export function settle(places: Places): void {
  completeNoted(places)
  rmSync(`${noteOf(places)}.part`, { force: true })
  for (const directory of new Set([dirname(places.database), places.data])) {
    for (const name of readdirSync(directory)) {
      if (name.startsWith(freshPrefix)) rmSync(join(directory, name), { recursive: true, force: true })
    }
  }
}

function completeNoted(places: Places): void {
  try {
    const plan = readNote(places)
    if (!plan) return
    if (plan.entries.every(entry => existsSync(inPlace(places, entry, entry.fresh)) || existsSync(inPlace(places, entry, entry.place)))) {
      carryOut(places, plan)
    } else takeBack(places, plan)
    conclude(places, plan)
  } catch (error) {
    throw new CannotStart(
      `A restore into ${places.data} was interrupted and cannot be completed (${codeOf(error) || 'unknown'}); ${noteOf(places)} says what was being moved.`,
      exitCodes.storage,
      { cause: error }
    )
  }
}

function planFor(places: Places, { fresh, databaseName, names }: Unpacked, asideName: string): Plan {
  const aside = { database: freeName(dirname(places.database), asideName), data: freeName(places.data, asideName) }
  const entryFor = (of: Side, name: string, place: string, besides: string[]): Entry => ({
    of,
    fresh: join(basename(fresh[of]), name),
    place,
    old: [place, ...besides].filter(old => existsSync(join(baseOf(places, of), old))).map(old => ({ from: old, to: join(aside[of], old) }))
  })
  const database = basename(places.database)
  const logs = ['-wal', '-shm', '-journal'].map(end => database + end)
  return {
    fresh: [...new Set([fresh.database, fresh.data])].map(directory => ({
      of: directory === fresh.database ? 'database' : 'data',
      directory: basename(directory)
    })),
    entries: [...names.map(name => entryFor('data', name, name, [])), entryFor('database', databaseName, database, logs)]
  }
}

// Each step is done or not, and this can be checked: after a crash, the next process continues with the
// first that is not.
function carryOut(places: Places, { entries }: Plan): void {
  for (const entry of entries) {
    const [fresh, place] = [inPlace(places, entry, entry.fresh), inPlace(places, entry, entry.place)]
    if (!existsSync(fresh)) continue
    for (const { from, to } of entry.old) move(inPlace(places, entry, from), inPlace(places, entry, to))
    if (existsSync(place)) throw new Error(`${place} is there again`)
    renameSync(fresh, place)
  }
}

function takeBack(places: Places, { entries }: Plan): void {
  for (const entry of entries) {
    const isMoved = entry.old.some(({ to }) => existsSync(inPlace(places, entry, to)))
    // Only files from the backup are removed: those for which nothing was moved, or whose original is
    // back.
    if (isMoved || entry.old.length === 0) move(inPlace(places, entry, entry.place), inPlace(places, entry, entry.fresh))
    for (const { from, to } of entry.old.toReversed()) {
      const aside = inPlace(places, entry, to)
      move(aside, inPlace(places, entry, from))
      removeEmpty(dirname(aside))
    }
  }
}

function move(from: string, to: string): void {
  if (!existsSync(from) || existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  renameSync(from, to)
}

function removeEmpty(directory: string): void {
  if (existsSync(directory) && readdirSync(directory).length === 0) rmdirSync(directory)
}

/** The plan is complete or rolled back: its files on disk may be removed. */
function conclude(places: Places, plan: Plan): void {
  const directories = [...new Set([dirname(places.database), places.data])]
  for (const directory of directories) syncDirectory(directory)
  for (const { of, directory } of plan.fresh) rmSync(join(baseOf(places, of), directory), { recursive: true, force: true })
  for (const end of ['', '.part']) rmSync(noteOf(places) + end, { force: true })
  syncDirectory(dirname(places.database))
}

function note(places: Places, plan: Plan): void {
  const file = noteOf(places)
  const part = `${file}.part`
  const handle = openSync(part, 'w', 0o600)
  try {
    writeFileSync(handle, JSON.stringify(plan))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  for (const { of, directory } of plan.fresh) syncDirectory(join(baseOf(places, of), directory))
  renameSync(part, file)
  syncDirectory(dirname(file))
}

function readNote(places: Places): Plan | undefined {
  const file = noteOf(places)
  if (!existsSync(file)) return undefined
  // Written by `note` and renamed when complete; the directory is private to its owner.
  return JSON.parse(readFileSync(file, 'utf8')) as Plan
}

function noteOf({ database }: Places): string {
  return `${database}.restoring`
}

function baseOf({ database, data }: Places, of: Side): string {
  return of === 'database' ? dirname(database) : data
}

function inPlace(places: Places, { of }: Entry, path: string): string {
  return join(baseOf(places, of), path)
}

function freeName(directory: string, name: string): string {
  for (let number = 1; ; number += 1) {
    const tried = number === 1 ? name : `${name}-${number}`
    if (!existsSync(join(directory, tried))) return tried
  }
}
