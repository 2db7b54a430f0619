import { type DiffLine, diffFile, type FileDiff } from './diff-lines.ts'

/** A line of a change with its numbers on the sides where it exists. */
export interface RowLine extends Pick<DiffLine, 'sign' | 'text' | 'marks'> {
  readonly oldNumber: number | undefined
  readonly newNumber: number | undefined
}

/** `fold`: omitted unchanged lines; `at` is the number of the first of them in the new text. */
export type DiffRow =
  | { readonly type: 'line'; readonly line: RowLine }
  | { readonly type: 'fold'; readonly at: number; readonly count: number }

/** Side by side: old and new. */
export type PairRow =
  | { readonly type: 'pair'; readonly older: RowLine | undefined; readonly newer: RowLine | undefined }
  | Extract<DiffRow, { type: 'fold' }>

interface FileRows {
  readonly rows: readonly DiffRow[]
  readonly added: number
  readonly removed: number
}

/** The lines of a change between two whole files; null for a missing file. `opened`: the folds to show. Undefined if they cannot be compared. */
export function rowsOf(
  oldText: string | null,
  newText: string | null,
  opened: ReadonlySet<number> = new Set(),
  diff: FileDiff | null | undefined = diffFile(oldText, newText ?? '', { isFile: true })
): FileRows | undefined {
  if (!diff) return undefined
  const lines = newText === null || diff.kind !== 'changed' ? [] : splitLines(newText)
  const rows: DiffRow[] = []
  let oldNext = 1
  let newNext = 1
  const skipTo = (newStart: number): void => {
    const count = newStart - newNext
    if (count <= 0) return
    // A fold of one line is taller than the line.
    if (count === 1 || opened.has(newNext)) {
      for (let i = 0; i < count; i++) {
        const text = lines[newNext - 1 + i] ?? ''
        rows.push({ type: 'line', line: { sign: ' ', text, marks: [], oldNumber: oldNext + i, newNumber: newNext + i } })
      }
    } else rows.push({ type: 'fold', at: newNext, count })
    oldNext += count
    newNext += count
  }
  for (const hunk of diff.hunks) {
    if (diff.kind === 'changed') skipTo(hunk.newStart)
    for (const { sign, text, marks } of hunk.lines) {
      const oldNumber = sign === '+' ? undefined : oldNext++
      const newNumber = sign === '-' ? undefined : newNext++
      rows.push({ type: 'line', line: { sign, text, marks, oldNumber, newNumber } })
    }
  }
  if (rows.length > 0) skipTo(lines.length + 1)
  return { rows, added: diff.added, removed: diff.removed }
}

/** Puts removed lines beside the added ones that follow them. */
export function pairsOf(rows: readonly DiffRow[]): PairRow[] {
  const pairs: PairRow[] = []
  for (let at = 0; at < rows.length; ) {
    const row = rows[at]
    if (row === undefined) break
    if (row.type === 'fold') {
      pairs.push(row)
      at++
    } else if (row.line.sign === ' ') {
      pairs.push({ type: 'pair', older: row.line, newer: row.line })
      at++
    } else {
      const removed = runOf(rows, at, '-')
      const added = runOf(rows, at + removed.length, '+')
      for (let i = 0; i < Math.max(removed.length, added.length); i++) pairs.push({ type: 'pair', older: removed[i], newer: added[i] })
      at += removed.length + added.length
    }
  }
  return pairs
}

function runOf(rows: readonly DiffRow[], from: number, sign: '+' | '-'): RowLine[] {
  const run: RowLine[] = []
  for (let at = from; at < rows.length; at++) {
    const row = rows[at]
    if (row?.type !== 'line' || row.line.sign !== sign) break
    run.push(row.line)
  }
  return run
}

export function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
