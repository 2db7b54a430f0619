// Ownership: which process has a conversation, a session's folder or an agent, which one wants it next, and what dead
// ones left running.

import { createHash } from 'node:crypto'
import { linkSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withDeadline } from '../../async/deadline.ts'
import { pause } from '../../async/pause.ts'
import { CannotStart } from '../../exit.ts'
import * as v from '../../schema.ts'
import { untilFound, type WatchOptions, watchFolders } from './folder-watch.ts'
import { makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'
import { nameOf, ownerOf, ownName, signalGroup } from './processes.ts'

/**
 * Claims one conversation of an agent for this process alone, before its agent starts on it. Of several
 * simultaneous claims at most one succeeds; the others throw CannotStart. Returns how to release it; the
 * death of the process releases it too.
 */
export function claimConversation(home: string, conversation: string): () => void {
  const folder = join(home, 'claims')
  makePrivateFolder(folder)
  const key = createHash('sha256').update(conversation).digest('hex').slice(0, 32)
  refuseHeld(readClaims(folder, key))
  // Each claim outbids those of dead processes, and a number is given once: readers of the same state want
  // the same number.
  const number = 1 + Math.max(0, ...readClaims(folder, key).map(claim => claim.number))
  const own = join(folder, `${key}.${number}`)
  const draft = `${own}@${ownName()}`
  writePrivateFile(draft, `@${ownName()}`)
  try {
    linkSync(draft, own)
  } catch {
    throw new CannotStart('Another process has just taken over this conversation.')
  } finally {
    rmSync(draft, { force: true })
  }
  const letGo = () => rmSync(own, { force: true })
  const others = readClaims(folder, key).filter(claim => claim.file !== own)
  try {
    refuseHeld(others)
  } catch (error) {
    letGo()
    throw error
  }
  for (const { file } of others) rmSync(file, { force: true })
  return letGo
}

interface Claim {
  file: string
  number: number
  /** The process that holds it, if that one still runs. */
  owner: number | undefined
}

function readClaims(folder: string, key: string): Claim[] {
  return readdirSync(folder).flatMap(name => {
    const number = Number(new RegExp(`^${key}\\.(\\d+)$`).exec(name)?.[1])
    const file = join(folder, name)
    return Number.isNaN(number) ? [] : [{ file, number, owner: ownerOf(readPrivateFile(file) ?? '') }]
  })
}

function refuseHeld(claims: readonly Claim[]): void {
  const held = claims.find(({ owner }) => owner !== undefined)
  if (held) throw new CannotStart(`This conversation is already open in a running session, process ${held.owner}.`)
}

const leaseNotes = v.object({
  /** An agent ends with the session that started it; a session outlives the daemon that started it. */
  of: v.picklist(['agent', 'session']),
  title: v.string(),
  folder: v.string(),
  at: v.number()
})

export type LeaseNotes = v.InferOutput<typeof leaseNotes>

/** A running process that was started by Afield: this very one, never another that reuses its id. */
export interface Lease extends LeaseNotes {
  /** `<process id>-<start>`. */
  name: string
  pid: number
  /** The process that started it, if that one still runs. */
  owner: number | undefined
}

let kept: string | undefined

/** From now on this process records its children, so that they can be ended if it is killed. */
export function keepLeases(home: string): void {
  kept = home
}

/** Returns how to remove the record, once it has ended. Does nothing in a process without leases. */
export function lease(pid: number, notes: Omit<LeaseNotes, 'at'>, home = kept): () => void {
  const name = home === undefined ? undefined : nameOf(pid)
  if (home === undefined || name === undefined) return () => {}
  const file = join(folderIn(home), `${name}@${ownName()}.json`)
  writePrivateFile(file, JSON.stringify({ ...notes, at: Date.now() }))
  return () => rmSync(file, { force: true })
}

/** Records of ended processes are removed. */
export function listLeases(home: string): Lease[] {
  const folder = folderIn(home)
  return readdirSync(folder).flatMap(file => {
    const [name = ''] = file.split('@')
    const pid = Number.parseInt(name, 10)
    if (!file.endsWith('.json')) return []
    if (nameOf(pid) !== name) {
      rmSync(join(folder, file), { force: true })
      return []
    }
    const { data } = v.safeParse(leaseNotes, v.jsonOf(readPrivateFile(join(folder, file))))
    return data ? [{ ...data, name, pid, owner: ownerOf(file) }] : []
  })
}

function folderIn(home: string): string {
  const folder = join(home, 'processes')
  makePrivateFolder(folder)
  return folder
}

/**
 * Ends agents left running by dead wrappers, and resolves when they have ended: two processes on one
 * conversation would overwrite each other, and further output of the first would be lost. A process that
 * reuses an id is not touched.
 */
export async function endOrphans(home: string): Promise<void> {
  await Promise.all(orphansIn(home).map(orphan => endOrphan(home, orphan)))
}

function orphansIn(home: string): Lease[] {
  return listLeases(home).filter(({ of, owner }) => of === 'agent' && owner === undefined)
}

const graceMs = 3_000
const giveUpMs = 6_000
const lookEveryMs = 20

async function endOrphan(home: string, { name, pid }: Lease): Promise<void> {
  const began = performance.now()
  const since = () => performance.now() - began
  const isThere = () => orphansIn(home).some(orphan => orphan.name === name)
  // An agent's children are in its group.
  signalGroup(pid, 'SIGTERM')
  while (isThere() && since() < graceMs) await pause(lookEveryMs)
  // One that cannot be killed must not block anybody.
  while (isThere() && since() < giveUpMs) {
    signalGroup(pid, 'SIGKILL')
    await pause(lookEveryMs)
  }
}

// A process that wants a session's folder puts its name in it; a dead process wants nothing.
const prefix = 'wanted@'

/** Whether another process wants to continue the session in the folder. */
export function isClaimRequested(folder: string): boolean {
  return wishes(folder).some(name => name !== ownWish() && ownerOf(name) !== undefined)
}

/** Aborts when another process wants the folder. */
export function onClaimRequested(folder: string, options?: WatchOptions): { signal: AbortSignal; close(): void } {
  const wanted = new AbortController()
  const look = () => {
    if (isClaimRequested(folder)) wanted.abort(new Error('the session is gone on with'))
  }
  const watching = watchFolders(look, options)
  watching.add(folder)
  look()
  return { signal: wanted.signal, close: watching.close }
}

/** Asks the process delivering the folder to release it, and resolves once `find` says that it did. */
export function untilFree<Found extends { path: string; deliverer: number | undefined }>(
  find: () => Found | undefined,
  withinMs: number,
  options?: WatchOptions
): Promise<Found> {
  const whenFree = (watch: (folder: string) => void) => {
    const found = find()
    if (!found || found.deliverer === undefined) return found
    watch(dirname(found.path))
    want(found.path)
    return undefined
  }
  return withDeadline(withinMs, signal => untilFound(whenFree, signal, options))
}

export function clearClaimRequest(folder: string): void {
  for (const name of wishes(folder)) if (name === ownWish() || ownerOf(name) === undefined) rmSync(join(folder, name), { force: true })
}

function want(folder: string): void {
  try {
    if (!wishes(folder).includes(ownWish())) writePrivateFile(join(folder, ownWish()), '')
  } catch {
    // It was renamed meanwhile.
  }
}

function wishes(folder: string): string[] {
  try {
    return readdirSync(folder).filter(name => name.startsWith(prefix))
  } catch {
    return []
  }
}

function ownWish(): string {
  return `${prefix}${ownName()}`
}
