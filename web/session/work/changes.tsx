import { useEffect, useState } from 'preact/hooks'
import type { ChangedFile, Repository } from '../../../lib/protocol/sealed/calls/git.ts'
import { pathOf } from '../../core/routes.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { Button } from '../../ui/button.tsx'
import { ChangeCount } from '../../ui/change-count.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { toast } from '../../ui/toast.ts'
import { work as words } from '../../words/work.ts'
import { hasRoomForTwo, showsSideBySide, toggleSideBySide, toggleWrap, wrapsLines } from './code-layout.ts'
import { CommitSheet } from './commit.tsx'
import { CommentBox, CommentNote } from './diff/comment-box.tsx'
import { FileComments, FileDiffView } from './diff/file-diff.tsx'
import { WorkFrame, type WorkProps } from './frame.tsx'
import { ChangedFileList, fileName, folderOf, totalOf } from './rows.tsx'
import { Freshness, NoStatus } from './states.tsx'
import { markOf, type Work } from './work.ts'

/** The changes since the last commit: the files, and below them line by line. With `path` just that file. */
export function WorkChanges({ work, facts, path }: WorkProps & { path: string | undefined }) {
  const reading = work.status.value
  const [isCommitting, setCommitting] = useState(false)
  useEffect(() => {
    if (work.isHere.value) void work.refresh()
  }, [work, work.isHere.value])
  const status = reading?.value
  const changes = status?.isRepository === true && status.files.length > 0 ? status : undefined
  const file = changes?.files.find(each => each.path === path)
  const canCommit = work.ability.value === 'whole' && changes !== undefined
  return (
    <WorkFrame
      work={work}
      facts={facts}
      tab="changes"
      title={path === undefined ? words.changes : fileName(path)}
      up={path === undefined ? undefined : { view: ['changes'], label: words.backToChanges }}
      actions={<LookActions work={work} />}
      foot={changes && <Foot work={work} canCommit={canCommit} onCommit={() => setCommitting(true)} />}
    >
      <Freshness work={work} facts={facts} />
      {changes === undefined ? (
        <NoStatus work={work} facts={facts} />
      ) : path !== undefined ? (
        <OneFile work={work} facts={facts} changes={changes} path={path} file={file} />
      ) : (
        <>
          <Summary changes={changes} />
          <ChangedFileList id={facts.id} files={changes.files} viewed={work.viewed.value} />
          {changes.isCut === true && <p class="hint">{words.isCut}</p>}
          <WholeComments work={work} />
          {changes.files.map((each, index) => (
            <FileArticle key={each.path} work={work} facts={facts} file={each} isFar={index >= mostShown} />
          ))}
        </>
      )}
      {isCommitting && changes && <CommitSheet work={work} facts={facts} files={changes.files} onClose={() => setCommitting(false)} />}
    </WorkFrame>
  )
}

/** Files further down are shown on request. */
const mostShown = 50

function LookActions({ work }: { work: Work }) {
  return (
    <>
      {hasRoomForTwo.value && (
        <button class="ib" type="button" aria-label={words.sideBySide} aria-pressed={showsSideBySide.value} onClick={toggleSideBySide}>
          <Icon name="columns-2" />
        </button>
      )}
      <button class="ib" type="button" aria-label={words.wrap} aria-pressed={wrapsLines.value} onClick={toggleWrap}>
        <Icon name="text-wrap" />
      </button>
      <button
        class="ib"
        type="button"
        aria-label={words.refresh}
        aria-disabled={work.isHere.value ? undefined : true}
        onClick={() => work.isHere.peek() && void work.refresh()}
      >
        <Icon name="rotate-cw" class={work.isReading.value ? 'spin' : ''} />
      </button>
    </>
  )
}

function Summary({ changes }: { changes: Repository }) {
  const { added, removed } = totalOf(changes.files)
  const ways = [changes.ahead > 0 && words.ahead(changes.ahead), changes.behind > 0 && words.behind(changes.behind)].filter(
    way => way !== false
  )
  return (
    <div class="chg-s">
      <span>
        <Icon name="git-branch" />
        <bdi>{changes.branch ?? words.detached}</bdi>
      </span>
      <span>
        {words.notCommitted(ways)} <ChangeCount added={added} removed={removed} />
      </span>
    </div>
  )
}

function OneFile(props: { work: Work; facts: SessionFacts; changes: Repository; path: string; file: ChangedFile | undefined }) {
  const { work, facts, changes, file } = props
  if (file === undefined) return <p class="lead pad">{words.clean}</p>
  const next = changes.files[changes.files.indexOf(file) + 1]
  return (
    <>
      <FileArticle work={work} facts={facts} file={file} isFar={false} isAlone />
      {next && (
        <a class="next-file" href={pathOf({ name: 'session', id: facts.id, view: ['changes', ...next.path.split('/')] })}>
          {words.nextFile(fileName(next.path))}
          <Icon name="chevron-right" />
        </a>
      )}
    </>
  )
}

function FileArticle(props: { work: Work; facts: SessionFacts; file: ChangedFile; isFar: boolean; isAlone?: boolean }) {
  const { work, facts, file } = props
  const [isWriting, setWriting] = useState(false)
  const isViewed = work.viewed.value.get(file.path) === markOf(file)
  const [isAsked, ask] = useState(false)
  const isOpen = isAsked || (props.isAlone === true ? true : !isViewed && !props.isFar)
  const folder = folderOf(file.path)
  return (
    <article class="wfile" aria-label={file.path}>
      <header>
        <h2>
          <bdi dir="ltr">
            {folder !== '' && <span>{folder}/</span>}
            {fileName(file.path)}
          </bdi>
          {file.from !== undefined && <small>{words.renamedFrom(file.from)}</small>}
        </h2>
        {file.letter !== 'M' && file.letter !== 'R' && (
          <span class={`tag k${file.letter === '?' ? 'A' : file.letter}`}>{words.letter[file.letter]}</span>
        )}
        <button class="ib" type="button" aria-label={words.commentOn(fileName(file.path))} onClick={() => setWriting(true)}>
          <Icon name="message-square-text" />
        </button>
        <label class="seen">
          <input
            type="checkbox"
            checked={isViewed}
            onChange={event => {
              ask(false)
              work.setViewed(file, event.currentTarget.checked)
            }}
          />
          <span>{words.viewed}</span>
        </label>
      </header>
      <FileComments path={file.path} comments={work.comments} />
      {isWriting && (
        <CommentBox
          where={fileName(file.path)}
          onCancel={() => setWriting(false)}
          onAdd={text => {
            work.comments.add({ path: file.path, line: undefined, text })
            setWriting(false)
          }}
        />
      )}
      {isOpen ? (
        <FileDiffView
          path={file.path}
          host={facts.host}
          mark={markOf(file)}
          isHere={work.isHere.value}
          read={load => work.diff(file, load)}
          comments={work.comments}
        />
      ) : (
        <button class="wfold" type="button" onClick={() => ask(true)}>
          {words.showFile}
        </button>
      )}
    </article>
  )
}

function WholeComments({ work }: { work: Work }) {
  const whole = work.comments.all.value.filter(comment => comment.path === undefined)
  return (
    <>
      {whole.map(comment => (
        <CommentNote key={comment.id} comment={comment} onRemove={() => work.comments.remove(comment.id)} />
      ))}
    </>
  )
}

function Foot({ work, canCommit, onCommit }: { work: Work; canCommit: boolean; onCommit(): void }) {
  const [isWriting, setWriting] = useState(false)
  const [hasFailed, setFailed] = useState(false)
  const count = work.comments.all.value.length
  const send = () => {
    setFailed(false)
    work.comments.send().then(
      () => toast(words.commentsSent),
      () => setFailed(true)
    )
  }
  return (
    <footer class="foot">
      {hasFailed && (
        <p class="problem" role="alert">
          <Icon name="circle-alert" />
          <span>{words.commentsNotKept}</span>
        </p>
      )}
      {isWriting ? (
        <CommentBox
          where={words.changes}
          onCancel={() => setWriting(false)}
          onAdd={text => {
            work.comments.add({ path: undefined, line: undefined, text })
            setWriting(false)
          }}
        />
      ) : (
        <div class={`acts ${canCommit ? 'two' : ''}`}>
          {count > 0 ? (
            <Button look={canCommit ? 'quiet' : 'primary'} isLarge icon="message-square-text" onClick={send}>
              {words.sendComments(count)}
            </Button>
          ) : (
            <Button look="quiet" isLarge icon="message-square-text" onClick={() => setWriting(true)}>
              {words.comment}
            </Button>
          )}
          {canCommit && (
            <Button look="primary" isLarge icon="git-commit-horizontal" isOff={!work.isHere.value} onClick={onCommit}>
              {words.commit}
            </Button>
          )}
        </div>
      )}
    </footer>
  )
}
