import { lstat, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { toBase64 } from '../../../crypto/bytes.ts'
import type { GitDiff } from '../../../protocol/sealed/calls/git.ts'
import { imageTypes } from '../../../protocol/sealed/calls/images.ts'
import { type Git, refusalOf } from './git-program.ts'
import { linesIn, textOf } from './git-text.ts'

/** Size limits of each side: shown unasked, and shown at all. */
const easyBytes = 256 * 1024
const mostBytes = 2 * 1024 * 1024
const mostImageBytes = 3 * 1024 * 1024

/** A file of a commit or of the folder, before its content is read. */
type Side = { type: 'file'; size: number; read(): Promise<Uint8Array> } | { type: 'submodule'; commit: string } | { type: 'none' }

interface DiffAsked {
  readonly folder: string
  readonly path: string
  /** The previous path; the same if it was not renamed. */
  readonly from: string
  readonly commit: string | undefined
  readonly load: boolean
}

/** Both sides of a change: from the last commit to the current file, or of one commit. */
export async function diffOf(git: Git, { folder, path, from, commit, load }: DiffAsked): Promise<GitDiff> {
  const [older, newer] =
    commit === undefined
      ? await Promise.all([committed(git, 'HEAD', from), working(folder, path)])
      : await Promise.all([committed(git, `${commit}^1`, from), committed(git, commit, path)])
  if (older.type === 'submodule' || newer.type === 'submodule') {
    const newCommit = newer.type === 'none' && commit === undefined ? await checkedOut(git, path) : commitOf(newer)
    return { type: 'submodule', oldCommit: commitOf(older), newCommit }
  }
  const size = Math.max(sizeOf(older) ?? 0, sizeOf(newer) ?? 0)
  const mime = imageTypes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()]
  if (mime !== undefined && size <= mostImageBytes) {
    const [oldBytes, newBytes] = await Promise.all([bytesOf(older), bytesOf(newer)])
    return { type: 'image', mime, oldBytes: oldBytes && toBase64(oldBytes), newBytes: newBytes && toBase64(newBytes) }
  }
  if (mime !== undefined) return { type: 'binary', oldSize: sizeOf(older), newSize: sizeOf(newer) }
  if (size > mostBytes) return { type: 'too-large', bytes: size, canLoad: false }
  const [oldBytes, newBytes] = await Promise.all([bytesOf(older), bytesOf(newer)])
  const oldText = oldBytes && textOf(oldBytes)
  const newText = newBytes && textOf(newBytes)
  if (oldText === undefined || newText === undefined) return { type: 'binary', oldSize: sizeOf(older), newSize: sizeOf(newer) }
  const lines = Math.max(oldBytes ? linesIn(oldBytes) : 0, newBytes ? linesIn(newBytes) : 0)
  if (size > easyBytes && !load) return { type: 'too-large', lines, bytes: size, canLoad: true }
  return { type: 'text', oldText, newText }
}

async function committed(git: Git, commit: string, path: string): Promise<Side> {
  const finished = await git.read(['ls-tree', '-z', '-l', commit, '--', path])
  // The first commit has no parent.
  if (finished.exitCode !== 0) {
    if (/Not a valid object name/.test(finished.stderr)) return { type: 'none' }
    throw refusalOf(finished)
  }
  const entry = /^\d+ (\w+) (\w+) +(\d+|-)\t/.exec(finished.stdout.toString())
  if (!entry) return { type: 'none' }
  const [, kind, id = '', size] = entry
  if (kind === 'commit') return { type: 'submodule', commit: id }
  if (kind !== 'blob') return { type: 'none' }
  return {
    type: 'file',
    size: Number(size),
    async read() {
      const blob = await git.read(['cat-file', 'blob', id])
      if (blob.exitCode !== 0) throw refusalOf(blob)
      return blob.stdout
    }
  }
}

async function working(folder: string, path: string): Promise<Side> {
  const file = join(folder, path)
  const stats = await lstat(file).catch(() => undefined)
  if (stats?.isSymbolicLink()) {
    const target = Buffer.from(await readlink(file))
    return { type: 'file', size: target.length, read: async () => target }
  }
  return stats?.isFile() ? { type: 'file', size: stats.size, read: () => readFile(file) } : { type: 'none' }
}

async function checkedOut(git: Git, path: string): Promise<string | null> {
  const { exitCode, stdout } = await git.read(['-C', path, 'rev-parse', '--verify', 'HEAD'])
  return exitCode === 0 ? stdout.toString().trim() : null
}

function commitOf(side: Side): string | null {
  return side.type === 'submodule' ? side.commit : null
}

function sizeOf(side: Side): number | null {
  return side.type === 'file' ? side.size : null
}

function bytesOf(side: Side): Promise<Uint8Array | null> {
  return side.type === 'file' ? side.read() : Promise.resolve(null)
}
