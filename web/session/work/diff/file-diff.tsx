import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { GitDiff } from '../../../../lib/protocol/sealed/calls/git.ts'
import { useAnswer } from '../../../ui/behavior/answer.ts'
import { work as words } from '../../../words/work.ts'
import { rowsOf } from '../../text/diff-rows.ts'
import { isLong, readingOf } from '../../text/parsed-text.ts'
import { hasRoomForTwo, showsSideBySide } from '../code-layout.ts'
import { TroubleNote } from '../states.tsx'
import { workTroubleOf } from '../work.ts'
import { CommentBox, CommentNote } from './comment-box.tsx'
import type { WorkComments } from './comments.ts'
import { DiffTable, type LinePlace } from './diff-table.tsx'
import { BothImages } from './image-diff.tsx'

/** The changes in one file, loaded once it is near the screen. */
export function FileDiffView(props: {
  path: string
  host: string
  /** Changes when the file looks different: then it is loaded again. */
  mark: string
  /** The session is reachable: failed requests are repeated. */
  isHere: boolean
  read(load: boolean): Promise<GitDiff>
  /** Undefined if comments are not possible, as in older commits. */
  comments: WorkComments | undefined
}) {
  const { path, mark, isHere } = props
  const [load, setLoad] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const isNear = useNear(place)
  // If there is content, it stays until there is another, also if reading that fails.
  const { last: diff, error, again } = useAnswer(isNear && (() => props.read(load)), [path, mark, isHere, load])
  return (
    <div class="fdiff-b" ref={place}>
      {diff !== undefined ? (
        <LoadedDiff diff={diff} path={path} comments={props.comments} onLoad={() => setLoad(true)} />
      ) : error !== undefined ? (
        <TroubleNote title={words.notRead} trouble={workTroubleOf(error)} host={props.host} onRetry={again} />
      ) : (
        <p class="diff-wait" role="status">
          {words.loading(props.host)}
        </p>
      )}
    </div>
  )
}

function LoadedDiff({ diff, path, comments, onLoad }: { diff: GitDiff; path: string; comments: WorkComments | undefined; onLoad(): void }) {
  switch (diff.type) {
    case 'text':
      return <TextDiff oldText={diff.oldText} newText={diff.newText} path={path} comments={comments} />
    case 'image':
      return <BothImages path={path} mime={diff.mime} oldBytes={diff.oldBytes} newBytes={diff.newBytes} />
    case 'binary':
      return <Said>{`${words.binary} ${words.sizes(sizeOf(diff.oldSize), sizeOf(diff.newSize))}`}</Said>
    case 'submodule':
      return <Said>{`${words.submodule} ${words.submoduleMoved(short(diff.oldCommit), short(diff.newCommit))}`}</Said>
    case 'too-large':
      if (!diff.canLoad) return <Said>{words.neverShown(words.size(diff.bytes))}</Said>
      return <TooLarge lines={diff.lines} onLoad={onLoad} />
  }
}

const mostLines = 2000

/** Both sides of a text, line by line. */
export function TextDiff({
  oldText,
  newText,
  path,
  comments
}: {
  oldText: string | null
  newText: string | null
  path: string
  comments: WorkComments | undefined
}) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const [isWhole, setWhole] = useState(false)
  const [writing, setWriting] = useState<LinePlace>()
  const asked = { type: 'diff', oldText, newText: newText ?? '', isFile: true } as const
  const long = isLong(asked) ? readingOf(asked) : undefined
  const rows = useMemo(() => {
    if (!isLong(asked)) return rowsOf(oldText, newText, opened)
    return long === undefined ? undefined : rowsOf(oldText, newText, opened, long)
  }, [oldText, newText, opened, long])
  const mine = comments?.all.value.filter(comment => comment.path === path) ?? []
  if (isLong(asked) && long === undefined) return <p class="diff-wait" aria-busy="true" />
  if (rows === undefined) return <Said>{words.tooDifferent}</Said>
  if (!isWhole && rows.added + rows.removed > mostLines) return <TooLarge lines={rows.added + rows.removed} onLoad={() => setWhole(true)} />
  if (rows.rows.length === 0) return <Said>{words.noDifference}</Said>
  const isOneSided = oldText === null || newText === null
  return (
    <DiffTable
      path={path}
      rows={rows.rows}
      isSideBySide={hasRoomForTwo.value && showsSideBySide.value && !isOneSided}
      comments={mine}
      writing={writing}
      onLine={comments && setWriting}
      onUnfold={at => setOpened(new Set(opened).add(at))}
      below={line => (
        <>
          {mine.filter(isAbout(line)).map(comment => (
            <CommentNote key={comment.id} comment={comment} onRemove={() => comments?.remove(comment.id)} />
          ))}
          {writing?.number === line.number && writing.side === line.side && (
            <CommentBox
              where={words.lineAt(line.number)}
              onCancel={() => setWriting(undefined)}
              onAdd={text => {
                comments?.add({ path, line, text })
                setWriting(undefined)
              }}
            />
          )}
        </>
      )}
    />
  )
}

function isAbout({ number, side }: LinePlace): (comment: { line: LinePlace | undefined }) => boolean {
  return ({ line }) => line?.number === number && line.side === side
}

function TooLarge({ lines, onLoad }: { lines: number | undefined; onLoad(): void }) {
  return (
    <Said>
      {lines === undefined ? words.tooLarge : words.tooLargeLines(lines)}{' '}
      <button class="txt" type="button" onClick={onLoad}>
        {words.loadAnyway}
      </button>
    </Said>
  )
}

function Said({ children }: { children: ComponentChildren }) {
  return <p class="diff-wait">{children}</p>
}

function sizeOf(bytes: number | null): string {
  return bytes === null ? words.noSize : words.size(bytes)
}

function short(commit: string | null): string {
  return commit === null ? words.noSize : commit.slice(0, 8)
}

/** True once the element was near the screen. */
function useNear(element: { current: Element | null }): boolean {
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    if (isNear || element.current === null) return
    const watch = new IntersectionObserver(entries => entries.some(entry => entry.isIntersecting) && setNear(true), {
      rootMargin: '600px 0px'
    })
    watch.observe(element.current)
    return () => watch.disconnect()
  }, [isNear])
  return isNear
}

/** Comments on a file as a whole. */
export function FileComments({ path, comments }: { path: string; comments: WorkComments }) {
  const whole = comments.all.value.filter(comment => comment.path === path && comment.line === undefined)
  return (
    <>
      {whole.map(comment => (
        <CommentNote key={comment.id} comment={comment} onRemove={() => comments.remove(comment.id)} />
      ))}
    </>
  )
}
