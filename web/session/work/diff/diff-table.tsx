import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { Icon } from '../../../ui/icons/icon.tsx'
import { work as words } from '../../../words/work.ts'
import { painted } from '../../text/diff.tsx'
import { type DiffRow, type PairRow, pairsOf, type RowLine } from '../../text/diff-rows.ts'
import { languageOf } from '../../text/highlight.ts'
import { LineChunks } from '../../text/line-chunks.tsx'
import { wrapsLines } from '../code-layout.ts'
import type { WorkComment } from './comments.ts'

/** The place of an existing or new comment in a file. */
export interface LinePlace {
  readonly number: number
  readonly side: 'old' | 'new'
  readonly text: string
}

interface DiffTableProps {
  readonly path: string
  readonly rows: readonly DiffRow[]
  readonly isSideBySide: boolean
  readonly comments: readonly WorkComment[]
  /** The line of the comment being written. */
  readonly writing: LinePlace | undefined
  /** Undefined if comments are not possible. */
  readonly onLine: ((place: LinePlace) => void) | undefined
  readonly onUnfold: (at: number) => void
  /** Rendered below a line: its comments. */
  readonly below: (place: LinePlace) => ComponentChildren
}

/** The lines of a change, in one or two columns. A tap on a line, or Enter on its number, starts a comment; arrow keys move between numbers. */
export function DiffTable(props: DiffTableProps) {
  const { rows, isSideBySide } = props
  const pairs = useMemo(() => (isSideBySide ? pairsOf(rows) : undefined), [rows, isSideBySide])
  const language = languageOf(props.path)
  const count = pairs?.length ?? rows.length
  return (
    <section
      class={`wdiff ${pairs ? 'two' : ''} ${wrapsLines.value ? '' : 'no-wrap'}`}
      aria-label={words.linesOf(props.path)}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways has to be reachable by keyboard
      tabIndex={0}
      onKeyDown={moveByArrows}
    >
      <LineChunks
        count={count}
        show={(from, to) =>
          pairs
            ? pairs.slice(from, to).map((row, index) => <Pair key={from + index} row={row} language={language} {...props} />)
            : rows.slice(from, to).map((row, index) => <Single key={from + index} row={row} language={language} {...props} />)
        }
      />
    </section>
  )
}

type RowProps<Row> = DiffTableProps & { row: Row; language: string }

function Single({ row, language, ...props }: RowProps<DiffRow>) {
  if (row.type === 'fold') return <Fold row={row} onUnfold={props.onUnfold} />
  const { line } = row
  return (
    <>
      <Line line={line} language={language} onLine={props.onLine} />
      {talkedAbout(line, props) && props.below(placeOf(line))}
    </>
  )
}

function Pair({ row, language, ...props }: RowProps<PairRow>) {
  if (row.type === 'fold') return <Fold row={row} onUnfold={props.onUnfold} />
  const { older, newer } = row
  return (
    <>
      <div class="wpair">
        {older ? <Line line={older} side="old" language={language} onLine={props.onLine} /> : <div class="wl none" />}
        {newer ? <Line line={newer} side="new" language={language} onLine={props.onLine} /> : <div class="wl none" />}
      </div>
      {older && older !== newer && talkedAbout(older, props) && props.below(placeOf(older))}
      {newer && talkedAbout(newer, props) && props.below(placeOf(newer))}
    </>
  )
}

function Line(props: { line: RowLine; side?: 'old' | 'new'; language: string; onLine: DiffTableProps['onLine'] }) {
  const { line, language, onLine } = props
  const look = line.sign === '+' ? 'add' : line.sign === '-' ? 'del' : 'ctx'
  const number = (props.side === 'old' ? line.oldNumber : line.newNumber) ?? line.oldNumber
  const begin = onLine && (() => !hasSelection() && onLine(placeOf(line)))
  const numbered = onLine ? (
    <button class="ln" type="button" tabIndex={-1} aria-label={words.commentOnLine(number ?? 0)} onClick={begin}>
      {number}
    </button>
  ) : (
    <span class="ln">{number}</span>
  )
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a larger target for the button in it
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button in it takes the keys
    <div class={`wl ${look}`} onClick={begin}>
      {numbered}
      <span class="sg">{line.sign === '-' ? '−' : line.sign.trim()}</span>
      <code>{painted(line, language, false)}</code>
    </div>
  )
}

function Fold({ row, onUnfold }: { row: Extract<DiffRow, { type: 'fold' }>; onUnfold(at: number): void }) {
  return (
    <button class="wfold" type="button" onClick={() => onUnfold(row.at)}>
      <Icon name="maximize-2" />
      {words.foldedLines(row.count)}
    </button>
  )
}

function placeOf({ sign, oldNumber, newNumber, text }: RowLine): LinePlace {
  return sign === '-' ? { number: oldNumber ?? 0, side: 'old', text } : { number: newNumber ?? 0, side: 'new', text }
}

function talkedAbout(line: RowLine, { comments, writing }: DiffTableProps): boolean {
  const { number, side } = placeOf(line)
  return (
    (writing?.number === number && writing.side === side) ||
    comments.some(comment => comment.line?.number === number && comment.line.side === side)
  )
}

// Selecting text to copy is not a tap on the line.
function hasSelection(): boolean {
  return getSelection()?.isCollapsed === false
}

function moveByArrows(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const { currentTarget, target } = event
  if (!(currentTarget instanceof Element) || !(target instanceof HTMLElement)) return
  if (target !== currentTarget && !target.matches('.ln')) return
  const numbers = [...currentTarget.querySelectorAll<HTMLElement>('button.ln')]
  const next = numbers[numbers.indexOf(target) + (event.key === 'ArrowDown' ? 1 : -1)]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}
