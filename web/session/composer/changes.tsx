import type { Attached } from '../../model/session/attachment.ts'
import { compose } from '../../words/compose.ts'
import { session as words } from '../../words/session.ts'

/** A queued message is being edited. */
export interface Changes {
  /** Its local id. */
  readonly of: string
  /** The draft before the edit, restored afterwards. */
  readonly draft: string
  readonly files: readonly Attached[]
  /** The agent read it meanwhile, or it was withdrawn: the text becomes a new message. */
  readonly isLate: boolean
}

/** Says so above the field, with a way back to the previous draft. */
export function ChangesBar({ changes, onCancel }: { changes: Changes; onCancel(): void }) {
  return (
    <p class="waits changes">
      <span role="status">{changes.isLate ? compose.changedLate : compose.changing}</span>
      <button class="txt" type="button" onClick={onCancel}>
        {words.cancel}
      </button>
    </p>
  )
}
