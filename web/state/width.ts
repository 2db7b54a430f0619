import { type ReadonlySignal, signal } from '@preact/signals'

const query = matchMedia('(min-width: 768px)')
const wideNow = signal(query.matches)
query.addEventListener('change', () => {
  wideNow.value = query.matches
})

/** True when there is room for the list beside the main pane. */
export const isWide: ReadonlySignal<boolean> = wideNow
