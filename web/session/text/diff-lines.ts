import { diffWordsWithSpace, structuredPatch } from 'diff'

export interface DiffLine {
  readonly sign: ' ' | '+' | '-'
  /** In the new text, for removed lines in the old one; undefined if the texts are parts of a file. */
  readonly number: number | undefined
  readonly text: string
  /** The differences from the line it replaces: ranges of `text`. */
  readonly marks: readonly { readonly from: number; readonly to: number }[]
}

export interface FileDiff {
  /** Runs of lines with some unchanged context; lines between them are omitted. */
  readonly hunks: readonly Hunk[]
  readonly added: number
  readonly removed: number
  readonly kind: 'new' | 'deleted' | 'changed'
}

interface Hunk {
  readonly lines: readonly DiffLine[]
  readonly skippedBefore: number
  /** The number of its first line on each side. */
  readonly oldStart: number
  readonly newStart: number
}

/** `oldText` null is a new file. `isFile`: the texts are certainly whole files. Undefined if the texts are too different to compare in reasonable time. */
export function diffFile(oldText: string | null, newText: string, { isFile = false } = {}): FileDiff | undefined {
  if (oldText === null) return wholeFile(newText, '+', 'new')
  if (newText === '' && oldText !== '') return wholeFile(oldText, '-', 'deleted')
  const patch = structuredPatch('', '', oldText, newText, '', '', { context: 3, maxEditLength: 8000, timeout: 300 })
  if (patch === undefined) return undefined
  // Agents send whole files or just the replaced text. Files end with a line end; then the line numbers are real.
  const isWhole = isFile || (oldText.endsWith('\n') && newText.endsWith('\n'))
  let before = 1
  const hunks = patch.hunks.map(hunk => {
    const skippedBefore = Math.max(0, hunk.oldStart - before)
    before = hunk.oldStart + hunk.oldLines
    const { oldStart, newStart } = hunk
    return { lines: linesOf(hunk.lines, oldStart, newStart, isWhole), skippedBefore: isWhole ? skippedBefore : 0, oldStart, newStart }
  })
  const all = hunks.flatMap(hunk => hunk.lines)
  return { hunks, added: count(all, '+'), removed: count(all, '-'), kind: 'changed' }
}

/** How many lines a change adds and removes, without highlighting. */
export function countChanges(oldText: string | null, newText: string): { added: number; removed: number } | undefined {
  const cached = counts.get(newText)
  if (cached !== undefined && cached.oldText === oldText) return cached
  const diff = diffFile(oldText, newText)
  if (diff === undefined) return undefined
  const counted = { oldText, added: diff.added, removed: diff.removed }
  if (counts.size >= 500) counts.clear()
  counts.set(newText, counted)
  return counted
}

const counts = new Map<string, { oldText: string | null; added: number; removed: number }>()

function wholeFile(text: string, sign: '+' | '-', kind: 'new' | 'deleted'): FileDiff {
  const lines = splitLines(text).map((line, index): DiffLine => ({ sign, number: index + 1, text: line, marks: [] }))
  return {
    hunks: lines.length === 0 ? [] : [{ lines, skippedBefore: 0, oldStart: 1, newStart: 1 }],
    added: sign === '+' ? lines.length : 0,
    removed: sign === '-' ? lines.length : 0,
    kind
  }
}

function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

function linesOf(raw: readonly string[], oldStart: number, newStart: number, isWhole: boolean): DiffLine[] {
  let oldNumber = oldStart
  let newNumber = newStart
  const lines = raw.flatMap((line): DiffLine[] => {
    const sign = line[0]
    if (sign !== ' ' && sign !== '+' && sign !== '-') return []
    const number = sign === '-' ? oldNumber : newNumber
    if (sign !== '+') oldNumber++
    if (sign !== '-') newNumber++
    return [{ sign, number: isWhole ? number : undefined, text: line.slice(1), marks: [] }]
  })
  return withMarks(lines)
}

// A run of removed lines followed by added ones: each removed line is compared with its most likely replacement.
function withMarks(lines: readonly DiffLine[]): DiffLine[] {
  const out = [...lines]
  for (let i = 0; i < out.length; i++) {
    if (out[i]?.sign !== '-') continue
    let firstAdded = i
    while (out[firstAdded]?.sign === '-') firstAdded++
    let end = firstAdded
    while (out[end]?.sign === '+') end++
    let from = firstAdded
    for (let at = i; at < firstAdded && end - i <= longestRun; at++) {
      const best = bestMatch(out, at, from, end)
      if (best === undefined) continue
      out[at] = best.removed
      out[best.at] = best.added
      from = best.at + 1
    }
    i = Math.max(i, end - 1)
  }
  return out
}

/** Longer runs are new text, not changed lines. */
const longestRun = 40

function bestMatch(lines: readonly DiffLine[], at: number, from: number, end: number) {
  const removed = lines[at]
  let best: { at: number; removed: DiffLine; added: DiffLine; same: number } | undefined
  for (let other = from; other < end; other++) {
    const added = lines[other]
    if (removed === undefined || added === undefined) continue
    const marked = markWords(removed, added)
    if (marked !== undefined && marked.same > (best?.same ?? 0)) best = { at: other, ...marked }
  }
  return best
}

const longestMarked = 400

/** Undefined if the lines have too little in common to be versions of each other. `same` is the shared part, up to 1. */
function markWords(removed: DiffLine, added: DiffLine): { removed: DiffLine; added: DiffLine; same: number } | undefined {
  if (removed.text.length > longestMarked || added.text.length > longestMarked) return undefined
  const removedMarks: { from: number; to: number }[] = []
  const addedMarks: { from: number; to: number }[] = []
  let inOld = 0
  let inNew = 0
  let same = 0
  for (const part of diffWordsWithSpace(removed.text, added.text)) {
    const { length } = part.value
    if (part.removed === true) removedMarks.push({ from: inOld, to: inOld + length })
    else if (part.added === true) addedMarks.push({ from: inNew, to: inNew + length })
    else same += part.value.trim().length
    if (part.added !== true) inOld += length
    if (part.removed !== true) inNew += length
  }
  // Highlights help if much of the line stayed; otherwise they are noise.
  const shorter = Math.max(1, Math.min(removed.text.trim().length, added.text.trim().length))
  if (same < shorter * 0.4) return undefined
  return {
    removed: { ...removed, marks: joined(removedMarks, removed.text) },
    added: { ...added, marks: joined(addedMarks, added.text) },
    same: same / shorter
  }
}

// Highlights separated only by spaces are merged; spaces at the edges are not highlighted.
function joined(marks: readonly { from: number; to: number }[], text: string): { from: number; to: number }[] {
  const out: { from: number; to: number }[] = []
  for (const { from, to } of marks) {
    const part = text.slice(from, to)
    const mark = { from: from + part.length - part.trimStart().length, to: from + part.trimEnd().length }
    if (mark.from >= mark.to) continue
    const last = out.at(-1)
    if (last !== undefined && text.slice(last.to, mark.from).trim() === '') out[out.length - 1] = { from: last.from, to: mark.to }
    else out.push(mark)
  }
  return out
}

function count(lines: readonly DiffLine[], sign: '+' | '-'): number {
  return lines.filter(line => line.sign === sign).length
}
