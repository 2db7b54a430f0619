import { deviceDb } from '../core/device-db.ts'
import { useAnswer } from '../ui/behavior/answer.ts'

/** The choices of the last start on this device, and the draft of the next first message. */
export interface LastStart {
  text?: string
  machine?: string | undefined
  folder?: string | undefined
  agent?: string | undefined
  mode?: string | undefined
  /** The last choices for each folder, by machine and folder; the latest last. */
  folders?: Readonly<Record<string, FolderStart>> | undefined
}

interface FolderStart {
  agent: string
  mode: string
  /** Undefined until it was chosen: then it depends on whether the folder has changes. */
  worktree?: boolean | undefined
  model: string
  effort: string
}

const mostFolders = 30

export function folderStart(last: LastStart, machine: string, folder: string | undefined): FolderStart | undefined {
  return folder === undefined ? undefined : last.folders?.[`${machine} ${folder}`]
}

/** Remembers the choices of a start, for the machine and folder. */
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

/** The choices of the last start, and the draft. Undefined while they are being read. */
export function useLastStart(): LastStart | undefined {
  return useAnswer(readLastStart, []).value
}

async function readLastStart(): Promise<LastStart> {
  const kept = await deviceDb()
    .then(db => db.read(lastName))
    .catch(() => undefined)
  lastKept = isLastStart(kept) ? kept : {}
  return lastKept
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
