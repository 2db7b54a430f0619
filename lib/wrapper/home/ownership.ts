// Ownership: which process has a conversation, a session's folder or an agent, who wants it next, and what a dead one left running.

import { createHash } from 'node:crypto'
import { linkSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { withDeadline } from '../../async/deadline.ts'
import { pause } from '../../async/pause.ts'
import { CannotStart } from '../../exit.ts'
import { untilFound, type WatchOptions, watchFolders } from './folder-watch.ts'
import { makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'
import { nameOf, ownerOf, ownName, signalGroup } from './processes.ts'

/**
 * Gives one conversation of an agent to this process alone, before its agent starts on it. Of several processes that want it
 * at once at most one gets it; the others throw CannotStart. Returns how to let it go; a process that dies lets it go too.
 */
export function claimConversation(home: string, conversation: string): () => void {
  const folder = join(home, 'claims')
  makePrivateFolder(folder)
  const key = createHash('sha256').update(conversation).digest('hex').slice(0, 32)
  refuseHeld(readClaims(folder, key))
  // Each claim outbids those of dead processes, and a number is given once: who reads the same wants the same number.
  const number = 1 + Math.max(0, ...readClaims(folder, key).map(claim => claim.number))
  const own = join(folder, `${key}.${number}`)
  const draft = `${own}@${ownName()}`
  writePrivateFile(draft, `@${ownName()}`)
  try {
    linkSync(draft, own)
  } catch {
    throw new CannotStart('Another process goes on with this conversation since just now.')
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
  if (held) throw new CannotStart(`A session goes on with this conversation right now, as process ${held.owner}.`)
}

const leaseNotes = z.object({
  /** An agent ends with the session that started it; a session outlives the daemon that started it. */
  of: z.enum(['agent', 'session']),
  title: z.string(),
  folder: z.string(),
  at: z.number()
})

export type LeaseNotes = z.infer<typeof leaseNotes>

/** A process that was started by Afield and still runs: this very one, never another that has its id now. */
export interface Lease extends LeaseNotes {
  /** `<process id>-<start>`. */
  name: string
  pid: number
  /** The process that started it, if that one still runs. */
  owner: number | undefined
}

let kept: string | undefined

/** From now on this process notes what it starts, so that what it leaves behind when it is killed can be ended. */
export function keepLeases(home: string): void {
  kept = home
}

/** Returns how to forget it, once it has ended. Does nothing in a process that keeps no leases. */
export function lease(pid: number, notes: Omit<LeaseNotes, 'at'>, home = kept): () => void {
  const name = home === undefined ? undefined : nameOf(pid)
  if (home === undefined || name === undefined) return () => {}
  const file = join(folderIn(home), `${name}@${ownName()}.json`)
  writePrivateFile(file, JSON.stringify({ ...notes, at: Date.now() }))
  return () => rmSync(file, { force: true })
}

/** Notes of processes that have ended go away. */
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
    const { data } = leaseNotes.safeParse(JSON.parse(readPrivateFile(join(folder, file)) ?? 'null'))
    return data ? [{ ...data, name, pid, owner: ownerOf(file) }] : []
  })
}

function folderIn(home: string): string {
  const folder = join(home, 'processes')
  makePrivateFolder(folder)
  return folder
}

/**
 * Ends the agents that wrappers which are no more have left running, and resolves when they have ended: two processes on one
 * conversation would overwrite each other, and what the first still writes down would not be told. A process whose id was
 * given to another program since is not touched.
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
  // What an agent has started belongs to its group.
  signalGroup(pid, 'SIGTERM')
  while (isThere() && since() < graceMs) await pause(lookEveryMs)
  // One that the system does not let go keeps nobody from working.
  while (isThere() && since() < giveUpMs) {
    signalGroup(pid, 'SIGKILL')
    await pause(lookEveryMs)
  }
}

// Who wants the folder of a session leaves its name in it; that of a process that is no more wants nothing.
const prefix = 'wanted@'

/** Whether another process wants to go on with what is in the folder. */
export function isWanted(folder: string): boolean {
  return wishes(folder).some(name => name !== ownWish() && ownerOf(name) !== undefined)
}

/** Aborts when somebody wants the folder. */
export function whenWanted(folder: string, options?: WatchOptions): { signal: AbortSignal; close(): void } {
  const wanted = new AbortController()
  const look = () => {
    if (isWanted(folder)) wanted.abort(new Error('the session is gone on with'))
  }
  const watching = watchFolders(look, options)
  watching.add(folder)
  look()
  return { signal: wanted.signal, close: watching.close }
}

/** Asks whoever delivers what is in the folder to leave it, and resolves once `find` says that nobody does any more. */
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

export function wantNoMore(folder: string): void {
  for (const name of wishes(folder)) if (name === ownWish() || ownerOf(name) === undefined) rmSync(join(folder, name), { force: true })
}

function want(folder: string): void {
  try {
    if (!wishes(folder).includes(ownWish())) writePrivateFile(join(folder, ownWish()), '')
  } catch {
    // It was given another name meanwhile.
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
