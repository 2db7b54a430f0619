import { type ReadonlySignal, signal } from '@preact/signals'

// A phone in landscape is wide, but has no room for two panes. The style sheets use the same query.
const query = matchMedia('(min-width: 768px) and (min-height: 30em), (min-width: 60em)')
const wideNow = signal(query.matches)
query.addEventListener('change', () => {
  wideNow.value = query.matches
})

const spacious = matchMedia('(min-width: 1200px)')
const spaciousNow = signal(spacious.matches)
spacious.addEventListener('change', () => {
  spaciousNow.value = spacious.matches
})

/** True if there is room for a pane beside a session, too. */
export const isSpacious: ReadonlySignal<boolean> = spaciousNow

/** True if there is room for the list beside the main pane. */
export const isWide: ReadonlySignal<boolean> = wideNow
