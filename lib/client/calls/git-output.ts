import type { ChangedFile, Repository } from '../../protocol/sealed/calls/git.ts'

/**
 * A file as listed by `git status`, with what is needed to count and mark it. Paths are relative to
 * the top of the repository.
 */
export interface StatusFile extends Pick<ChangedFile, 'path' | 'from' | 'letter' | 'isStaged' | 'isUnstaged'> {
  /** What the last commit and the index have; undefined for untracked files. */
  readonly head?: string
  readonly index?: string
}

interface StatusTold extends Pick<Repository, 'branch' | 'head' | 'upstream' | 'ahead' | 'behind'> {
  readonly files: readonly StatusFile[]
}

/** Parses `git status --porcelain=v2 -z --branch`. A truncated last entry is left out. */
export function readStatus(output: string): StatusTold {
  const status = { branch: null as string | null, head: null as string | null, upstream: null as string | null, ahead: 0, behind: 0 }
  const files: StatusFile[] = []
  const records = output.split('\0').slice(0, -1)
  for (let at = 0; at < records.length; at++) {
    const record = records[at] ?? ''
    if (record.startsWith('# ')) readHeader(status, record.slice(2))
    else if (record.startsWith('? '))
      files.push({ path: record.slice(2).replace(/\/$/, ''), letter: '?', isStaged: false, isUnstaged: true })
    else if (record.startsWith('1 ')) {
      const file = readOrdinary(record, 8)
      if (file) files.push(file)
    } else if (record.startsWith('2 ')) {
      const from = records[++at]
      const file = readOrdinary(record, 9)
      if (file && from !== undefined) files.push({ ...file, ...(isRename(record) && { from, letter: 'R' as const }) })
    } else if (record.startsWith('u ')) {
      const path = afterFields(record, 10)
      if (path !== '') files.push({ path, letter: 'U', isStaged: false, isUnstaged: true })
    }
  }
  return { ...status, files }
}

function readHeader(
  status: { branch: string | null; head: string | null; upstream: string | null; ahead: number; behind: number },
  line: string
): void {
  const [name, value = ''] = splitAt(line, line.indexOf(' '))
  if (name === 'branch.oid') status.head = value === '(initial)' ? null : value
  if (name === 'branch.head') status.branch = value === '(detached)' ? null : value
  if (name === 'branch.upstream') status.upstream = value
  const counts = name === 'branch.ab' ? /^\+(\d+) -(\d+)$/.exec(value) : null
  if (counts) {
    status.ahead = Number(counts[1])
    status.behind = Number(counts[2])
  }
}

// 1 XY sub mH mI mW hH hI path, and for a rename a score before the path.
function readOrdinary(record: string, fields: number): StatusFile | undefined {
  const [, xy = '..', , , , , head = '', index = ''] = record.split(' ', 8)
  const path = afterFields(record, fields)
  if (path === '') return undefined
  const [staged = '.', unstaged = '.'] = xy
  return { path, letter: letterOf(staged, unstaged), isStaged: staged !== '.', isUnstaged: unstaged !== '.', head, index }
}

function letterOf(staged: string, unstaged: string): ChangedFile['letter'] {
  if (unstaged === 'D' || staged === 'D') return 'D'
  return staged === 'A' || unstaged === 'A' || staged === 'C' ? 'A' : 'M'
}

function isRename(record: string): boolean {
  const [, xy = ''] = record.split(' ', 2)
  return xy.includes('R')
}

// A path may contain spaces.
function afterFields(record: string, fields: number): string {
  let at = 0
  for (let field = 0; field < fields; field++) {
    const space = record.indexOf(' ', at)
    if (space < 0) return ''
    at = space + 1
  }
  return record.slice(at)
}

export interface LineCount {
  readonly added?: number
  readonly removed?: number
  readonly isBinary?: true
  readonly from?: string
}

/** Parses `git diff --numstat -z`, keyed by each file's current path. */
export function readCounts(output: string): Map<string, LineCount> {
  const counts = new Map<string, LineCount>()
  const records = output.split('\0').slice(0, -1)
  for (let at = 0; at < records.length; at++) {
    const [added = '', removed = '', ...rest] = (records[at] ?? '').split('\t')
    const path = rest.join('\t')
    const count: LineCount = added === '-' ? { isBinary: true } : { added: Number(added), removed: Number(removed) }
    if (path !== '') counts.set(path, count)
    else {
      const from = records[at + 1]
      const to = records[at + 2]
      at += 2
      if (from !== undefined && to !== undefined) counts.set(to, { ...count, from })
    }
  }
  return counts
}

/** Parses `git diff-tree --raw -z`: the change of each file, keyed by its new path. */
export function readRaw(output: string): { path: string; from?: string; letter: ChangedFile['letter'] }[] {
  const files: { path: string; from?: string; letter: ChangedFile['letter'] }[] = []
  const records = output.split('\0').slice(0, -1)
  for (let at = 0; at < records.length; at++) {
    const kind = /^:\d+ \d+ \w+ \w+ ([A-Z])/.exec(records[at] ?? '')?.[1]
    if (kind === undefined) continue
    const first = records[++at]
    if (first === undefined) break
    if (kind === 'R' || kind === 'C') {
      const path = records[++at]
      if (path !== undefined) files.push(kind === 'R' ? { path, from: first, letter: 'R' } : { path, letter: 'A' })
    } else files.push({ path: first, letter: kind === 'A' || kind === 'D' || kind === 'U' ? kind : 'M' })
  }
  return files
}

function splitAt(text: string, at: number): [string, string] {
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
