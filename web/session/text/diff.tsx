import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { escaped } from '../../ui/escaped.tsx'
import { session as words } from '../../words/session.ts'
import type { DiffLine, FileDiff } from './diff-lines.ts'
import { highlightLine, languageOf } from './highlight.ts'
import { rich } from './lazy-rich.ts'
import { LineChunks } from './line-chunks.tsx'
import { isLong, readingOf } from './parsed-text.ts'

/** The change of one file, line by line. `isDecision`: shown for a decision, so in full, and nothing may be hidden. */
export function Diff({
  path,
  oldText,
  newText,
  isDecision = false
}: {
  path: string
  oldText: string | null
  newText: string
  isDecision?: boolean
}) {
  const asked = { type: 'diff', oldText, newText, isFile: false } as const
  // A decision must not appear later than its buttons.
  const isAside = isLong(asked) && !isDecision
  const reader = rich.get()
  const here = useMemo(
    () => (isAside ? undefined : reader && (reader.diffFile(oldText, newText) ?? null)),
    [isAside, reader, oldText, newText]
  )
  const diff = isAside ? readingOf(asked) : here
  const [isWhole, setWhole] = useState(isDecision)
  if (diff === undefined) return <div class="diff" aria-busy="true" />
  if (diff === null) return <p class="diff-large">{words.tooLargeToShow(newText.split('\n').length)}</p>
  const lines = diff.added + diff.removed
  if (!isWhole && lines > mostLines) {
    return (
      <p class="diff-large">
        {words.tooLargeToShow(lines)}{' '}
        <button type="button" class="txt" onClick={() => setWhole(true)}>
          {words.loadAnyway}
        </button>
      </p>
    )
  }
  return <Lines diff={diff} language={languageOf(path)} isDecision={isDecision} />
}

const mostLines = 400

function Lines({ diff, language, isDecision }: { diff: FileDiff; language: string; isDecision: boolean }) {
  const hasNumbers = diff.hunks.some(hunk => hunk.lines.some(line => line.number !== undefined))
  const linesOf = (lines: readonly DiffLine[], from: number) =>
    lines.map((line, at) => <Line key={from + at} line={line} language={language} isDecision={isDecision} hasNumbers={hasNumbers} />)
  return (
    <div class={`diff ${hasNumbers ? '' : 'no-numbers'}`}>
      {diff.hunks.map((hunk, index) => (
        <div key={index}>
          {(index > 0 || hunk.skippedBefore > 1) && (
            <div class="dl-skip">{hunk.skippedBefore > 0 ? words.unchanged(hunk.skippedBefore) : '⋯'}</div>
          )}
          {isDecision ? (
            linesOf(hunk.lines, 0)
          ) : (
            <LineChunks count={hunk.lines.length} show={(from, to) => linesOf(hunk.lines.slice(from, to), from)} />
          )}
        </div>
      ))}
    </div>
  )
}

function Line({ line, language, isDecision, hasNumbers }: { line: DiffLine; language: string; isDecision: boolean; hasNumbers: boolean }) {
  const look = line.sign === '+' ? 'add' : line.sign === '-' ? 'del' : 'ctx'
  return (
    <div class={`dl ${look}`}>
      {hasNumbers && <span class="ln">{line.number}</span>}
      <span class="sg">{line.sign === '-' ? '−' : line.sign.trim()}</span>
      <code>{painted(line, language, isDecision)}</code>
    </div>
  )
}

// Syntax and change highlights overlap: the line is cut wherever either begins or ends.
export function painted(line: Pick<DiffLine, 'sign' | 'text' | 'marks'>, language: string, isDecision: boolean): ComponentChildren {
  const mark = line.sign === '+' ? 'a' : 'd'
  let at = 0
  return highlightLine(line.text, language).flatMap(({ text, look }) => {
    const from = at
    at += text.length
    return pieces(from, at, line.marks).map(piece => {
      const part = line.text.slice(piece.from, piece.to)
      const shown = isDecision ? escaped(part) : part
      const coloured = look === '' ? shown : <i class={look}>{shown}</i>
      return piece.isMarked ? <mark class={mark}>{coloured}</mark> : coloured
    })
  })
}

function pieces(from: number, to: number, marks: DiffLine['marks']): { from: number; to: number; isMarked: boolean }[] {
  const out: { from: number; to: number; isMarked: boolean }[] = []
  let at = from
  for (const mark of marks) {
    const start = Math.max(at, mark.from)
    const end = Math.min(to, mark.to)
    if (start >= end) continue
    if (start > at) out.push({ from: at, to: start, isMarked: false })
    out.push({ from: start, to: end, isMarked: true })
    at = end
  }
  if (at < to) out.push({ from: at, to, isMarked: false })
  return out
}
