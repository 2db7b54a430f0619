import { type ReadonlySignal, signal } from '@preact/signals'

const room = matchMedia('(min-width: 1000px)')
const hasRoomNow = signal(room.matches)
room.addEventListener('change', () => {
  hasRoomNow.value = room.matches
})
const wrapsNow = signal(kept('afield-wrap') !== 'no')
const pairsNow = signal(kept('afield-side-by-side') !== 'no')

/** There is room for two columns of code. */
export const hasRoomForTwo: ReadonlySignal<boolean> = hasRoomNow
/** How this device shows code; remembered. */
export const wrapsLines: ReadonlySignal<boolean> = wrapsNow
export const showsSideBySide: ReadonlySignal<boolean> = pairsNow

export function toggleWrap(): void {
  wrapsNow.value = !wrapsNow.peek()
  keep('afield-wrap', wrapsNow.peek())
}

export function toggleSideBySide(): void {
  pairsNow.value = !pairsNow.peek()
  keep('afield-side-by-side', pairsNow.peek())
}

function kept(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

function keep(name: string, is: boolean): void {
  localStorage.setItem(name, is ? 'yes' : 'no')
}
