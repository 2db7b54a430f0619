import { lists as words } from '../words/lists.ts'
import { offeredUndo, undo } from './undo.ts'

export function UndoBar() {
  const offer = offeredUndo.value
  return (
    <div class="undo" role="status">
      {offer && (
        <p>
          <span>{offer.text}</span>
          <button class="txt" type="button" onClick={undo}>
            {words.undo}
          </button>
        </p>
      )}
    </div>
  )
}
