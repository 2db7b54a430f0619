import { shownToast } from './toast.ts'

export function Toasts() {
  return (
    <div class="toast" role="status">
      {shownToast.value !== undefined && <span>{shownToast.value}</span>}
    </div>
  )
}
