import { words } from '../words/index.ts'
import { toast } from './toast.tsx'

/** With a word on the screen when it is done. */
export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
  toast(words.copied)
}

/** As `copy`; takes it out of the clipboard again after a minute, if the page is still open and the browser lets it. */
export async function copySecret(text: string): Promise<void> {
  await copy(text)
  setTimeout(() => {
    // Only the page in front may touch the clipboard; what cannot be cleared was said beside the button.
    navigator.clipboard.writeText('').catch(() => {})
  }, 60_000)
}
