import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { flip, isOn } from '../../core/preferences.ts'

// Files and changes wrap by default; code in a conversation has its own setting and does not.
const wrapName = 'afield-work-wrap'
const room = matchMedia('(min-width: 1000px)')
const hasRoomNow = signal(room.matches)
room.addEventListener('change', () => {
  hasRoomNow.value = room.matches
})
const wrapsNow = signal(kept(wrapName) !== 'no')

/** There is room for two columns of code. */
export const hasRoomForTwo: ReadonlySignal<boolean> = hasRoomNow
/** How this device shows code; stored. */
export const wrapsLines: ReadonlySignal<boolean> = wrapsNow
export const showsSideBySide: ReadonlySignal<boolean> = computed(() => isOn('sideBySide'))

export function toggleWrap(): void {
  wrapsNow.value = !wrapsNow.peek()
  localStorage.setItem(wrapName, wrapsNow.peek() ? 'yes' : 'no')
}

export function toggleSideBySide(): void {
  flip('sideBySide')
}

function kept(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}
