import { lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { folderEntry, TreeEntry } from '../../../protocol/sealed/calls/files.ts'
import type * as v from '../../../schema.ts'

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Throws, with a sentence for a person, if a file is in the way. */
export function makeFolder(path: string): void {
  refuseFile(path)
  mkdirSync(path, { recursive: true })
}

/** Also if the path leads through one. */
export function refuseFile(path: string): void {
  for (let at = path; ; at = dirname(at)) {
    const found = statSync(at, { throwIfNoEntry: false })
    if (found && !found.isDirectory()) throw new Error(`${at} is a file, not a folder.`)
    if (found || dirname(at) === at) return
  }
}

/** Folders first, then by name. */
export function listFolder(path: string): v.InferOutput<typeof folderEntry>[] {
  const entries = readdirSync(path, { withFileTypes: true }).map(entry => {
    const type = entry.isDirectory() ? ('directory' as const) : entry.isFile() ? ('file' as const) : ('other' as const)
    const stats = statSync(join(path, entry.name), { throwIfNoEntry: false })
    return { name: entry.name, type, ...(stats && { size: stats.size, modified: Math.floor(stats.mtimeMs) }) }
  })
  return entries.toSorted(foldersFirst)
}

const mostEntries = 5_000

/** The tree below a folder, without links; a tree that is too large is truncated. */
export function readTree(path: string, maxDepth: number): TreeEntry {
  let left = mostEntries
  const read = (path: string, depth: number): TreeEntry => {
    const stats = lstatSync(path)
    const own = { name: basename(path), path, size: stats.size, modified: Math.floor(stats.mtimeMs) }
    if (!stats.isDirectory()) return { ...own, type: 'file' }
    if (depth === 0) return { ...own, type: 'directory' }
    const children = readdirSync(path, { withFileTypes: true })
      .filter(entry => (entry.isFile() || entry.isDirectory()) && left-- > 0)
      .map(entry => read(join(path, entry.name), depth - 1))
    return { ...own, type: 'directory', children: children.toSorted(foldersFirst) }
  }
  return read(path, maxDepth)
}

function foldersFirst(one: { type: string; name: string }, other: { type: string; name: string }): number {
  return Number(other.type === 'directory') - Number(one.type === 'directory') || (one.name < other.name ? -1 : 1)
}
