import { useEffect, useState } from 'preact/hooks'
import { deviceDb } from '../core/device-db.ts'

/** What was begun last on this device, and the text that waits to be the first of a session. */
export interface LastStart {
  text?: string
  machine?: string | undefined
  folder?: string | undefined
  agent?: string | undefined
  mode?: string | undefined
  /** What was chosen last for a folder, by machine and folder; the latest last. */
  folders?: Readonly<Record<string, FolderStart>> | undefined
}

interface FolderStart {
  agent: string
  mode: string
  /** Undefined as long as nobody said so: then it depends on whether the folder has changes. */
  worktree?: boolean | undefined
  model: string
  effort: string
}

const mostFolders = 30

export function folderStart(last: LastStart, machine: string, folder: string | undefined): FolderStart | undefined {
  return folder === undefined ? undefined : last.folders?.[`${machine} ${folder}`]
}

/** What was begun on the machine in the folder, and so. */
export function noteStart(machine: string, folder: string, chosen: FolderStart): void {
  const name = `${machine} ${folder}`
  const others = Object.entries(lastKept.folders ?? {}).filter(([known]) => known !== name)
  keepLastStart({
    machine,
    folder,
    agent: chosen.agent,
    mode: chosen.mode,
    folders: Object.fromEntries([...others, [name, chosen] as const].slice(-mostFolders))
  })
}

const lastName = 'start'
let lastKept: LastStart = {}

/** What was begun last on this device, and what is being written. Undefined while it is read. */
export function useLastStart(): LastStart | undefined {
  const [last, setLast] = useState<LastStart>()
  useEffect(() => {
    deviceDb()
      .then(db => db.read(lastName))
      .catch(() => undefined)
      .then(kept => {
        lastKept = isLastStart(kept) ? kept : {}
        setLast(lastKept)
      })
  }, [])
  return last
}

export function keepLastStart(changed: LastStart): void {
  lastKept = { ...lastKept, ...changed }
  const kept = lastKept
  void deviceDb()
    .then(db => db.write(lastName, kept))
    .catch(() => {})
}

// Only this file writes the entry, and it is sealed.
function isLastStart(kept: unknown): kept is LastStart {
  return typeof kept === 'object' && kept !== null
}
