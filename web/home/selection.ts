import { type ReadonlySignal, signal } from '@preact/signals'

const selectedNow = signal<ReadonlySet<string> | undefined>(undefined)

/** The sessions that are picked to do something with; undefined while nobody picks. */
export const selected: ReadonlySignal<ReadonlySet<string> | undefined> = selectedNow

/** Picks or drops one. Dropping the last one leaves the picking on. */
export function toggle(id: string): void {
  const next = new Set(selectedNow.peek())
  if (!next.delete(id)) next.add(id)
  selectedNow.value = next
}

export function selectThese(ids: readonly string[]): void {
  selectedNow.value = new Set(ids)
}

export function stopSelecting(): void {
  selectedNow.value = undefined
}
