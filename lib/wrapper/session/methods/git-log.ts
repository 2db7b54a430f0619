import { readCounts, readRaw } from '../../../client/calls/git-output.ts'
import type { CommitView, LogEntry } from '../../../protocol/sealed/calls/git.ts'
import { emptyTree, withoutFrom } from './git-counts.ts'
import { type Git, refusalOf } from './git-program.ts'

const mostFiles = 2000
const fields = '%H%x00%P%x00%an%x00%at%x00%s%x00'

/** Commits that touched the folder, newest first. */
export async function logOf(git: Git, limit: number, skip: number): Promise<{ commits: LogEntry[]; hasMore: boolean }> {
  const args = ['log', '-z', `--max-count=${limit + 1}`, `--skip=${skip}`, `--format=${fields}`, '--no-ext-diff', '--', '.']
  const finished = await git.read(args)
  if (finished.exitCode !== 0) {
    if (/does not have any commits yet|bad default revision/.test(finished.stderr)) return { commits: [], hasMore: false }
    throw refusalOf(finished)
  }
  const values = finished.stdout.toString().split('\0')
  const commits: LogEntry[] = []
  // Five values and the record separator.
  for (let at = 0; at + 5 < values.length; at += 6) commits.push(entryOf(values.slice(at, at + 5)))
  return { commits: commits.slice(0, limit), hasMore: commits.length > limit }
}

/** One commit with its changes to the folder, against its first parent. */
export async function showCommit(git: Git, prefix: string, commit: string): Promise<CommitView> {
  const finished = await git.read(['log', '-z', '--max-count=1', `--format=${fields}%b`, '--no-ext-diff', '--end-of-options', commit])
  if (finished.exitCode !== 0) {
    if (/bad object|unknown revision|ambiguous argument|bad revision/.test(finished.stderr)) throw new Error('There is no such commit.')
    throw refusalOf(finished)
  }
  const values = finished.stdout.toString().split('\0')
  const entry = entryOf(values)
  const [parent = await emptyTree(git)] = entry.parents
  const between = ['--find-renames', '--no-relative', '--no-ext-diff', '--no-textconv', '-z', parent, entry.id, '--', '.']
  const [raw, counted] = await Promise.all([
    git.read(['diff-tree', '-r', '--raw', ...between]),
    git.read(['diff-tree', '-r', '--numstat', ...between])
  ])
  if (raw.exitCode !== 0) throw refusalOf(raw)
  const counts = readCounts(counted.stdout.toString())
  const files = readRaw(raw.stdout.toString()).map(({ from, ...file }) => ({
    ...file,
    path: file.path.slice(prefix.length),
    ...(from !== undefined && { from: from.slice(prefix.length) }),
    ...withoutFrom(counts.get(file.path) ?? {})
  }))
  const isCut = files.length > mostFiles || raw.isCut
  return { ...entry, body: (values[5] ?? '').trim(), files: files.slice(0, mostFiles), ...(isCut && { isCut }) }
}

function entryOf([id = '', parents = '', author = '', at = '0', subject = '']: readonly string[]): LogEntry {
  return { id, parents: parents.split(' ').filter(parent => parent !== ''), author, at: Number(at) * 1000, subject }
}
