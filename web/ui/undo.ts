import { type ReadonlySignal, signal } from '@preact/signals'

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

/** What was done last and can still be undone. */
export const offeredUndo: ReadonlySignal<Offer | undefined> = offered

/** Says what was done and offers to undo it for a moment. The next offer, or leaving the app, ends the previous one. */
export function offerUndo(text: string, { undo, later }: Omit<Offer, 'text'>): void {
  settle()
  offered.value = { text, undo, ...(later && { later }) }
  ending = setTimeout(settle, offeredForMs)
  addEventListener('pagehide', settle, { once: true })
}

/** Undoes what is offered. */
export function undo(): void {
  const last = offered.peek()
  clearTimeout(ending)
  offered.value = undefined
  last?.undo()
}

function settle(): void {
  const last = offered.peek()
  clearTimeout(ending)
  offered.value = undefined
  last?.later?.()
}
