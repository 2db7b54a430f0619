import { type ReadonlySignal, signal } from '@preact/signals'

const selectedNow = signal<ReadonlySet<string> | undefined>(undefined)

/** The selected sessions; undefined outside selection mode. */
export const selected: ReadonlySignal<ReadonlySet<string> | undefined> = selectedNow

/** Toggles one. Deselecting the last one does not end selection mode. */
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
