import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { makePrivateFolder, readPrivateFile, writePrivateFile } from '../private-files.ts'
import { nameOf, ownerOf, ownName } from './process-name.ts'

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
