import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart } from '../../exit.ts'
import * as v from '../../schema.ts'
import { makePrivateFolder, readPrivateFile, writePrivateFile } from '../home/private-files.ts'
import { ownerOf, ownName } from '../home/processes.ts'

export const daemonNotes = v.object({
  pid: v.number(),
  server: v.string(),
  version: v.string(),
  startedAt: v.number(),
  /** The state of the link to the server, in words. */
  link: v.string()
})

/** What the daemon records about itself in the wrapper's home. */
export type DaemonNotes = v.InferOutput<typeof daemonNotes>

interface DaemonClaim {
  readonly notes: DaemonNotes
  note(changes: Partial<DaemonNotes>): void
  leave(): void
}

/**
 * Makes this process the daemon of a home. Throws CannotStart if there is another one: of two that start at
 * once, the first stays.
 */
export function claimDaemon(home: string, notes: DaemonNotes): DaemonClaim {
  const own = `daemon@${ownName()}.json`
  const file = join(folderOf(home), own)
  let now = notes
  const write = () => writePrivateFile(file, JSON.stringify(now))
  write()
  const first = claims(home).toSorted(byStart)[0]
  if (first !== undefined && first !== own) {
    rmSync(file, { force: true })
    throw new CannotStart(`The daemon is already running, as process ${ownerOf(first)}.`)
  }
  return {
    get notes() {
      return now
    },
    note(changes) {
      now = { ...now, ...changes }
      write()
    },
    leave: () => rmSync(file, { force: true })
  }
}

/** The running daemon; undefined if there is none. */
export function findDaemon(home: string): DaemonNotes | undefined {
  for (const name of claims(home)) {
    const { data } = v.safeParse(daemonNotes, JSON.parse(readPrivateFile(join(folderOf(home), name)) ?? 'null'))
    if (data) return data
  }
  return undefined
}

/** The files of running daemons; those of dead ones are removed. */
function claims(home: string): string[] {
  const folder = folderOf(home)
  return readdirSync(folder).filter(name => {
    if (!name.startsWith('daemon@') || !name.endsWith('.json')) return false
    if (ownerOf(name) !== undefined) return true
    rmSync(join(folder, name), { force: true })
    return false
  })
}

// By the start of the process, then by its id: every process gets the same order.
function byStart(one: string, other: string): number {
  const [onePid = 0, oneStart = 0] = numbersIn(one)
  const [otherPid = 0, otherStart = 0] = numbersIn(other)
  return oneStart - otherStart || onePid - otherPid
}

function numbersIn(name: string): number[] {
  return (name.match(/\d+/g) ?? []).map(Number)
}

function folderOf(home: string): string {
  const folder = join(home, 'daemon')
  makePrivateFolder(folder)
  return folder
}
