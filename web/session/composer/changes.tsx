import type { Attached } from '../../model/session/attached.ts'
import { compose } from '../../words/compose.ts'
import { session as words } from '../../words/session.ts'

/** A message that waits is being changed. */
export interface Changes {
  /** Its name. */
  readonly of: string
  /** What was written before, which comes back after it. */
  readonly draft: string
  readonly files: readonly Attached[]
  /** The agent came to it meanwhile, or it was withdrawn: what is written now is a message of its own. */
  readonly isLate: boolean
}

/** Says so above the field, with a way back to what was written before. */
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
