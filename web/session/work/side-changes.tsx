import { pathOf } from '../../core/routes.ts'
import { ChangeCount } from '../../ui/change-count.tsx'
import { Icon } from '../../ui/icons/icon.tsx'
import { work as words } from '../../words/work.ts'
import { ChangedFileList, totalOf } from './rows.tsx'
import type { Work } from './work.ts'

// The facts about a session's folder needed before it is opened: this file and whatever opens the rest.
export { openWork } from './work.ts'

/** The size of the changes since the last commit, as a link. Nothing if there are none. */
export function ChangesPill({ work }: { work: Work }) {
  const status = work.status.value?.value
  if (status?.isRepository !== true || status.files.length === 0) return null
  const { added, removed } = totalOf(status.files)
  const isCounted = added + removed > 0
  return (
    <a
      class="chg"
      href={pathOf({ name: 'session', id: work.id, view: ['changes'] })}
      aria-label={isCounted ? words.pill(added, removed) : words.pillFiles(status.files.length)}
    >
      <Icon name="file-diff" />
      {isCounted ? <ChangeCount added={added} removed={removed} /> : <span class="pm">{status.files.length}</span>}
    </a>
  )
}

export function hasChanges(work: Work | undefined): boolean {
  const status = work?.status.value?.value
  return status?.isRepository === true && status.files.length > 0
}

/** The changed files beside the conversation, if there is space. */
export function SideChanges({ work }: { work: Work }) {
  const status = work.status.value?.value
  if (status?.isRepository !== true || status.files.length === 0) return null
  return (
    <>
      <h2>
        <a href={pathOf({ name: 'session', id: work.id, view: ['changes'] })}>{words.changes}</a>{' '}
        <span>
          <ChangeCount {...totalOf(status.files)} />
        </span>
      </h2>
      <ChangedFileList id={work.id} files={status.files} viewed={work.viewed.value} />
    </>
  )
}
