/**
 * Whether this window certainly forgets everything when it closes: private windows of Firefox and Safari deny pages a file system, and
 * keep a database only while they are open. False is inconclusive: Chromium behaves the same in both kinds of window.
 */
export async function isForgetful(): Promise<boolean> {
  // Older browsers deny it in every window.
  if (typeof navigator.storage?.getDirectory !== 'function') return false
  return navigator.storage.getDirectory().then(
    () => false,
    () => true
  )
}
