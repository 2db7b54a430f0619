import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Folders of third-party code, which git most likely ignores. */
const passedBy = new Set(['.git', 'node_modules', '.hg', '.svn', '__pycache__', '.venv'])
const mostFolders = 20_000

/** The files below a folder, without links, nearest first. */
export async function walk(folder: string, most: number): Promise<{ paths: string[]; isCut: boolean }> {
  const paths: string[] = []
  const waiting = ['']
  for (let at = 0; at < waiting.length && at < mostFolders; at++) {
    const below = waiting[at] ?? ''
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory() && !passedBy.has(entry.name)) waiting.push(path)
      if (!entry.isFile()) continue
      if (paths.length === most) return { paths, isCut: true }
      paths.push(path)
    }
  }
  return { paths, isCut: waiting.length > mostFolders }
}
