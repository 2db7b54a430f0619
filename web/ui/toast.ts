import { type ReadonlySignal, signal } from '@preact/signals'

const shown = signal<string | undefined>(undefined)
let hiding: ReturnType<typeof setTimeout> | undefined

/** What is said at the moment. */
export const shownToast: ReadonlySignal<string | undefined> = shown

/** For results without a place of their own, such as "Copied". */
export function toast(text: string): void {
  clearTimeout(hiding)
  shown.value = text
  hiding = setTimeout(() => {
    shown.value = undefined
  }, 4_000)
}
