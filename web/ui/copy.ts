import { words } from '../words/index.ts'
import { toast } from './toast.ts'

/** Copies, and confirms it with a toast. */
export async function copy(text: string): Promise<void> {
  if (await putOnClipboard(text)) toast(words.copied)
}

/** Like `copy`; clears the clipboard after a minute, if the page is still open and the browser permits it. */
export async function copySecret(text: string): Promise<void> {
  if (!(await putOnClipboard(text))) return
  toast(words.copied)
  setTimeout(() => {
    // Only the focused page may write to the clipboard; the text beside the button says so.
    navigator.clipboard.writeText('').catch(() => {})
  }, 60_000)
}

/** False if the browser denies it; a toast says so then. */
export async function putOnClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    toast(words.notCopied)
    return false
  }
}
