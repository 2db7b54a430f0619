/**
 * Whether this window surely forgets everything when it closes: private windows of Firefox and Safari refuse files of their own to a page, and
 * keep a database only for as long as they are open. False says nothing: Chromium tells a page the same in both kinds of window.
 */
export async function isForgetful(): Promise<boolean> {
  // Older browsers refuse them to everybody.
  if (typeof navigator.storage?.getDirectory !== 'function') return false
  return navigator.storage.getDirectory().then(
    () => false,
    () => true
  )
}
