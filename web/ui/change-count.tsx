import { session as words } from '../words/session.ts'

/** +2 −1, read out as words. */
export function ChangeCount({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="pm">
      <b class="p">
        <span aria-hidden="true">+{added}</span>
        <span class="vh">{words.added(added)}</span>
      </b>{' '}
      <b class="m">
        <span aria-hidden="true">−{removed}</span>
        <span class="vh">{words.removed(removed)}</span>
      </b>
    </span>
  )
}
