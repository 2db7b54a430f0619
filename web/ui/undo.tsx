import { signal } from '@preact/signals'
import { lists as words } from '../words/lists.ts'

interface Offer {
  readonly text: string
  undo(): void
  /** Called once it can no longer be undone. */
  later?(): void
}

const offered = signal<Offer | undefined>(undefined)
let ending: ReturnType<typeof setTimeout> | undefined

/** How long an action can be undone. */
const offeredForMs = 8_000

/** Says what was done and offers to undo it for a moment. The next offer, or leaving the app, ends the previous one. */
export function offerUndo(text: string, { undo, later }: Omit<Offer, 'text'>): void {
  settle()
  offered.value = { text, undo, ...(later && { later }) }
  ending = setTimeout(settle, offeredForMs)
  addEventListener('pagehide', settle, { once: true })
}

function settle(): void {
  const last = offered.peek()
  clearTimeout(ending)
  offered.value = undefined
  last?.later?.()
}

export function UndoBar() {
  const offer = offered.value
  return (
    <div class="undo" role="status">
      {offer && (
        <p>
          <span>{offer.text}</span>
          <button
            class="txt"
            type="button"
            onClick={() => {
              clearTimeout(ending)
              offered.value = undefined
              offer.undo()
            }}
          >
            {words.undo}
          </button>
        </p>
      )}
    </div>
  )
}
