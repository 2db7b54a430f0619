import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { pathOf } from '../../../core/routes.ts'
import { useAnswer } from '../../../ui/behavior/answer.ts'
import { Icon } from '../../../ui/icons/icon.tsx'
import { work as words } from '../../../words/work.ts'
import type { FolderEntry } from '../calls.ts'
import { WorkFrame, type WorkProps } from '../frame.tsx'
import { fileName } from '../rows.tsx'
import { NothingKept, TroubleNote } from '../states.tsx'
import { type WorkTrouble, workTroubleOf } from '../work.ts'
import { WorkFile } from './file.tsx'
import { WorkSearch } from './search.tsx'

type Shown =
  | { type: 'folder'; entries: readonly FolderEntry[] }
  | { type: 'file'; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'trouble'; trouble: WorkTrouble }

/** The folders and files of a session, one at a time. The address does not say which it is: the machine does. */
export function WorkFiles({ path, ...props }: WorkProps & { path: string }) {
  const { work, facts } = props
  const isHere = work.isHere.value
  const { value: now, again } = useAnswer(isHere && (() => readPlace(work.calls, path)), [work, path])
  const parent = path.split('/').slice(0, -1)
  return (
    <WorkFrame
      work={work}
      facts={facts}
      tab="files"
      title={path === '' ? words.files : fileName(path)}
      up={path === '' ? undefined : { view: ['files', ...parent], label: parent.at(-1) ?? words.top }}
    >
      {path === '' && work.ability.value === 'whole' ? (
        <WorkSearch work={work} facts={facts} />
      ) : (
        <Breadcrumb id={facts.id} top={facts.folder} path={path} />
      )}
      {now === undefined && !isHere && <NothingKept facts={facts} />}
      {now === undefined && isHere && (
        <p class="lead pad" role="status">
          {words.loading(facts.host)}
        </p>
      )}
      {now?.type === 'folder' && <Entries id={facts.id} path={path} entries={now.entries} />}
      {now?.type === 'file' && <WorkFile key={path} {...props} path={path} bytes={now.bytes} onAgain={again} />}
      {now?.type === 'trouble' && (
        <div class="pad">
          <TroubleNote title={words.notRead} trouble={now.trouble} host={facts.host} onRetry={again} />
        </div>
      )}
    </WorkFrame>
  )
}

async function readPlace(calls: WorkProps['work']['calls'], path: string): Promise<Shown> {
  try {
    return { type: 'folder', entries: await calls.list(path) }
  } catch (error) {
    const trouble = workTroubleOf(error)
    if (trouble.why !== 'failed' || path === '') return { type: 'trouble', trouble }
  }
  try {
    return { type: 'file', bytes: await calls.read(path) }
  } catch (error) {
    return { type: 'trouble', trouble: workTroubleOf(error) }
  }
}

function Breadcrumb({ id, top, path }: { id: string; top: string; path: string }) {
  const parts = path === '' ? [] : path.split('/')
  return (
    <nav class="crumbs" aria-label={words.folder}>
      <a href={pathOf({ name: 'session', id, view: ['files'] })}>{top === '' ? words.top : top}</a>
      {parts.map((part, index) => (
        <Fragment key={index}>
          <Icon name="chevron-right" />
          {index === parts.length - 1 ? (
            <bdi aria-current="page">{part}</bdi>
          ) : (
            <a href={pathOf({ name: 'session', id, view: ['files', ...parts.slice(0, index + 1)] })}>
              <bdi>{part}</bdi>
            </a>
          )}
        </Fragment>
      ))}
    </nav>
  )
}

function Entries({ id, path, entries }: { id: string; path: string; entries: readonly FolderEntry[] }) {
  const [showsHidden, setShowsHidden] = useState(false)
  const hidden = entries.filter(({ name }) => name.startsWith('.'))
  const visible = showsHidden ? entries : entries.filter(({ name }) => !name.startsWith('.'))
  if (entries.length === 0) return <p class="lead pad">{words.emptyFolder}</p>
  return (
    <ul class="files entries">
      {visible.map(({ name, type, size }) => (
        <li key={name}>
          <a class="frow" href={pathOf({ name: 'session', id, view: ['files', ...(path === '' ? [] : path.split('/')), name] })}>
            <Icon name={type === 'directory' ? 'folder' : 'file-text'} class="entry-i" />
            {type === 'directory' && <span class="vh">{words.folder}: </span>}
            <span class="fn">
              <b>
                <bdi>{name}</bdi>
              </b>
            </span>
            {type === 'file' && size !== undefined && <span class="size">{words.size(size)}</span>}
          </a>
        </li>
      ))}
      {hidden.length > 0 && !showsHidden && (
        <li>
          <button class="txt" type="button" onClick={() => setShowsHidden(true)}>
            {words.hiddenFiles(hidden.length)}
          </button>
        </li>
      )}
    </ul>
  )
}
