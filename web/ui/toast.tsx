import { signal } from '@preact/signals'

const shown = signal<string | undefined>(undefined)
let hiding: ReturnType<typeof setTimeout> | undefined

/** For results without a place of their own, such as "Copied". */
export function toast(text: string): void {
  clearTimeout(hiding)
  shown.value = text
  hiding = setTimeout(() => {
    shown.value = undefined
  }, 4_000)
}

export function Toasts() {
  return (
    <div class="toast" role="status">
      {shown.value !== undefined && <span>{shown.value}</span>}
    </div>
  )
}
