import type { GitDiff, GitStatus } from '../../../lib/protocol/sealed/calls/git.ts'
import { deviceDb } from '../../core/device-db.ts'

export interface StatusTold {
  readonly value: GitStatus
  /** When the machine reported it, in ms since 1970. */
  readonly at: number
}

/** The stored state of a session's folder, to show while the machine is offline. */
export interface WorkCache {
  readonly status: StatusTold | undefined
  readonly diffs: ReadonlyMap<string, GitDiff>
  readonly viewed: ReadonlyMap<string, string>
}

const mostDiffs = 40
const mostLetters = 400_000

export async function readCache(id: string): Promise<WorkCache> {
  const kept = await deviceDb()
    .then(db => db.read(nameOf(id)))
    .catch(() => undefined)
  // Sealed by this device, so its shape is ours, but another version may have written it.
  if (typeof kept !== 'object' || kept === null || !('version' in kept) || kept.version !== 1)
    return { status: undefined, diffs: new Map(), viewed: new Map() }
  const { status, diffs, viewed } = kept as unknown as { status?: StatusTold; diffs: [string, GitDiff][]; viewed: [string, string][] }
  return { status, diffs: new Map(diffs), viewed: new Map(viewed) }
}

/** The newest diffs that fit. */
export async function writeCache(id: string, { status, diffs, viewed }: WorkCache): Promise<void> {
  let room = mostLetters
  const newest = [...diffs].toReversed().slice(0, mostDiffs)
  const fitting = newest.filter(([, diff]) => {
    room -= lettersOf(diff)
    return room >= 0
  })
  const value = { version: 1, status, diffs: fitting.toReversed(), viewed: [...viewed] }
  await deviceDb()
    .then(db => db.write(nameOf(id), value))
    // A device without space still shows changes while the machine is online.
    .catch(() => {})
}

function nameOf(id: string): string {
  return `work.${id}`
}

function lettersOf(diff: GitDiff): number {
  if (diff.type === 'text') return (diff.oldText?.length ?? 0) + (diff.newText?.length ?? 0)
  return diff.type === 'image' ? (diff.oldBytes?.length ?? 0) + (diff.newBytes?.length ?? 0) : 0
}
