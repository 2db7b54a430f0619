import { createHash } from 'node:crypto'
import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type LineCount, readCounts, type StatusFile } from '../../../client/calls/git-output.ts'
import type { ChangedFile } from '../../../protocol/sealed/calls/git.ts'
import type { Git } from './git-program.ts'
import { isBinary, linesIn } from './git-text.ts'

const mostCounted = 300
const mostCountedBytes = 512 * 1024

/** The lines that each file gained and lost since the last commit, and a mark that changes with the file. */
export async function countAll(
  git: Git,
  { folder, prefix, hasCommit, files }: { folder: string; prefix: string; hasCommit: boolean; files: readonly StatusFile[] }
): Promise<ChangedFile[]> {
  const base = hasCommit ? 'HEAD' : await emptyTree(git)
  const { stdout } = await git.read([...numstat, '--ignore-submodules=dirty', base, '--', '.'])
  const counts = readCounts(stdout.toString())
  let unknown = 0
  return Promise.all(
    files.map(async ({ head, index, ...file }): Promise<ChangedFile> => {
      const stats = await lstat(join(folder, file.path)).catch(() => undefined)
      const isCounted = file.letter !== '?' || unknown++ < mostCounted
      const count =
        file.letter === '?' ? isCounted && stats && (await countNew(join(folder, file.path), stats)) : counts.get(prefix + file.path)
      const mark = markOf([head, stats?.isFile() ? undefined : index, stats?.mtimeMs, stats?.size])
      return { ...file, ...(count && withoutFrom(count)), mark }
    })
  )
}

const numstat = ['diff', '--numstat', '-z', '--find-renames', '--no-relative', '--no-ext-diff', '--no-textconv']

/** The base before the first commit. */
export async function emptyTree(git: Git): Promise<string> {
  const { stdout } = await git.read(['hash-object', '-t', 'tree', '--stdin'])
  return stdout.toString().trim()
}

export function withoutFrom({ from: _, ...count }: LineCount): Omit<LineCount, 'from'> {
  return count
}

async function countNew(
  file: string,
  stats: { size: number; isFile(): boolean; isSymbolicLink(): boolean }
): Promise<LineCount | undefined> {
  if (stats.isSymbolicLink()) return { added: 1, removed: 0 }
  if (!stats.isFile() || stats.size > mostCountedBytes) return undefined
  const bytes = await readFile(file).catch(() => undefined)
  if (!bytes) return undefined
  return isBinary(bytes) ? { isBinary: true } : { added: linesIn(bytes), removed: 0 }
}

// Staging does not change how a file looks, so it is not part of the mark.
function markOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}
