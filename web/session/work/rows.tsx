import type { ChangedFile, CommitFile } from '../../../lib/protocol/sealed/calls/git.ts'
import { pathOf } from '../../core/routes.ts'
import { ChangeCount } from '../../ui/change-count.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { work as words } from '../../words/work.ts'
import { markOf } from './work.ts'

/** Changed files, each a link to its changes. */
export function ChangedFileList(props: {
  id: string
  files: readonly ChangedFile[]
  viewed: ReadonlyMap<string, string>
  isCurrent?: (path: string) => boolean
}) {
  return (
    <ul class="files">
      {props.files.map(file => {
        const isViewed = props.viewed.get(file.path) === markOf(file)
        return (
          <li key={file.path}>
            <a
              class="frow"
              href={pathOf({ name: 'session', id: props.id, view: ['changes', ...file.path.split('/')] })}
              aria-current={props.isCurrent?.(file.path) === true ? 'page' : undefined}
            >
              <FileFace file={file} />
              {file.isStaged && <span class="stage">{file.isUnstaged ? words.partlyStaged : words.staged}</span>}
              {isViewed && (
                <>
                  <Icon name="check" class="seen-i" />
                  <span class="vh">{words.viewed}</span>
                </>
              )}
              <Lines file={file} />
            </a>
          </li>
        )
      })}
    </ul>
  )
}

/** The kind of change, the file's name and its folder. */
export function FileFace({ file }: { file: Pick<CommitFile, 'path' | 'from' | 'letter'> }) {
  const folder = folderOf(file.path)
  return (
    <>
      <span class={`fk k${file.letter === '?' ? 'A' : file.letter}`} role="img" aria-label={words.letter[file.letter]}>
        {file.letter}
      </span>
      <span class="fn">
        <b>
          <bdi dir="ltr">{fileName(file.path)}</bdi>
        </b>
        {(folder !== '' || file.from !== undefined) && (
          <small>
            <bdi dir="ltr">{file.from === undefined ? folder : words.renamedFrom(file.from)}</bdi>
          </small>
        )}
      </span>
    </>
  )
}

export function Lines({ file }: { file: Pick<CommitFile, 'added' | 'removed'> }) {
  return file.added === undefined ? null : <ChangeCount added={file.added} removed={file.removed ?? 0} />
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

export function totalOf(files: readonly Pick<CommitFile, 'added' | 'removed'>[]): { added: number; removed: number } {
  const sum = (side: 'added' | 'removed') => files.reduce((total, file) => total + (file[side] ?? 0), 0)
  return { added: sum('added'), removed: sum('removed') }
}
