import { useEffect, useState } from 'preact/hooks'
import type { CommitFile, LogEntry } from '../../../lib/protocol/sealed/calls/git.ts'
import { pathOf } from '../../core/routes.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { useAnswer } from '../../ui/behavior/answer.ts'
import { Button } from '../../ui/button.tsx'
import { ChangeCount } from '../../ui/change-count.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { ago, clockTime, fullTime } from '../../words/time.ts'
import { work as words } from '../../words/work.ts'
import { FileDiffView } from './diff/file-diff.tsx'
import { WorkFrame, type WorkProps } from './frame.tsx'
import { FileFace, Lines, totalOf } from './rows.tsx'
import { NoStatus, Nothing, NothingKept, OldWrapper, TroubleNote } from './states.tsx'
import { type Work, type WorkTrouble, workTroubleOf } from './work.ts'

const pageOf = 40

/** The commits of the folder, newest first; with `commit` just that one. */
export function WorkLog({ work, facts, commit }: WorkProps & { commit: string | undefined }) {
  const status = work.status.value?.value
  const hasNone = status?.isRepository === false
  return (
    <WorkFrame
      work={work}
      facts={facts}
      tab="log"
      title={commit === undefined ? words.log : commit.slice(0, 8)}
      up={commit === undefined ? undefined : { view: ['log'], label: words.backToLog }}
    >
      {work.ability.value === 'shell' && work.isHere.value ? (
        <OldWrapper facts={facts} />
      ) : hasNone ? (
        <NoStatus work={work} facts={facts} />
      ) : commit === undefined ? (
        <Commits work={work} facts={facts} />
      ) : (
        <OneCommit key={commit} work={work} facts={facts} commit={commit} />
      )}
    </WorkFrame>
  )
}

function Commits({ work, facts }: { work: Work; facts: SessionFacts }) {
  const [commits, setCommits] = useState<readonly LogEntry[]>()
  const [hasMore, setHasMore] = useState(false)
  const [trouble, setTrouble] = useState<WorkTrouble>()
  const [isReading, setReading] = useState(false)
  const head = headOf(work)
  const read = async (known: readonly LogEntry[]) => {
    setReading(true)
    setTrouble(undefined)
    try {
      const page = await work.calls.log(pageOf, known.length)
      // A commit made meanwhile shifts the others: none is listed twice.
      const ids = new Set(known.map(({ id }) => id))
      setCommits([...known, ...page.commits.filter(({ id }) => !ids.has(id))])
      setHasMore(page.hasMore)
    } catch (error) {
      setTrouble(workTroubleOf(error))
    }
    setReading(false)
  }
  useEffect(() => {
    if (work.isHere.value) void read([])
  }, [work, work.isHere.value, head])
  if (commits === undefined) {
    if (trouble) {
      return (
        <div class="pad">
          <TroubleNote title={words.notRead} trouble={trouble} host={facts.host} onRetry={() => void read([])} />
        </div>
      )
    }
    if (!work.isHere.value) return <NothingKept facts={facts} />
    return (
      <p class="lead pad" role="status">
        {words.loading(facts.host)}
      </p>
    )
  }
  if (commits.length === 0) return <Nothing title={words.noCommits} text={words.noCommitsHint} />
  const now = Date.now()
  return (
    <>
      <ul class="commits">
        {commits.map(entry => (
          <li key={entry.id}>
            <a class="crow" href={pathOf({ name: 'session', id: facts.id, view: ['log', entry.id] })}>
              <Icon name={entry.parents.length > 1 ? 'git-branch' : 'git-commit-horizontal'} />
              <span class="fn">
                <b dir="auto">{entry.subject}</b>
                <small>
                  {words.commitMeta(entry.author, ago(entry.at, now))} <code>{entry.id.slice(0, 8)}</code>
                </small>
                {entry.at >= facts.createdAt && <small>{words.sinceBegun}</small>}
              </span>
              <Icon name="chevron-right" class="chev" />
            </a>
          </li>
        ))}
      </ul>
      {trouble && <TroubleNote title={words.notRead} trouble={trouble} host={facts.host} />}
      {hasMore && (
        <div class="pad">
          <Button look="quiet" isWide busy={isReading && words.loading(facts.host)} onClick={() => void read(commits)}>
            {words.more}
          </Button>
        </div>
      )}
    </>
  )
}

function OneCommit({ work, facts, commit }: { work: Work; facts: SessionFacts; commit: string }) {
  const { value: view, error, again } = useAnswer(work.isHere.value && (() => work.calls.show(commit)), [work, commit])
  if (view === undefined) {
    if (error !== undefined) {
      return (
        <div class="pad">
          <TroubleNote title={words.notRead} trouble={workTroubleOf(error)} host={facts.host} onRetry={again} />
        </div>
      )
    }
    return work.isHere.value ? (
      <p class="lead pad" role="status">
        {words.loading(facts.host)}
      </p>
    ) : (
      <NothingKept facts={facts} />
    )
  }
  const { added, removed } = totalOf(view.files)
  return (
    <>
      <div class="commit-h">
        <h2 dir="auto">{view.subject}</h2>
        {view.body !== '' && <p dir="auto">{view.body}</p>}
        <p class="meta" title={fullTime(view.at)}>
          {words.commitMeta(view.author, clockTime(view.at, Date.now()))} · {words.filesOf(view.files.length)}{' '}
          <ChangeCount added={added} removed={removed} />
        </p>
      </div>
      {view.files.length === 0 && <p class="lead pad">{words.commitChangesNothing}</p>}
      {view.files.map(file => (
        <CommittedFile key={file.path} work={work} facts={facts} commit={view.id} file={file} />
      ))}
    </>
  )
}

function CommittedFile({ work, facts, commit, file }: { work: Work; facts: SessionFacts; commit: string; file: CommitFile }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <article class="wfile" aria-label={file.path}>
      <button class="frow" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <FileFace file={file} />
        <Lines file={file} />
        <Icon name="chevron-down" class="chev" />
      </button>
      {isOpen && (
        <FileDiffView
          path={file.path}
          host={facts.host}
          mark={commit}
          isHere={work.isHere.value}
          read={load => work.calls.diff({ path: file.path, from: file.from, commit, load })}
          comments={undefined}
        />
      )}
    </article>
  )
}

// A new commit makes a new list.
function headOf(work: Work): string | null | undefined {
  const status = work.status.value?.value
  return status?.isRepository === true ? status.head : undefined
}
