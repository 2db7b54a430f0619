/** Called before something opens over the page; what it returns gives the focus back to where it was then, unless it went elsewhere meanwhile. */
export function focusBack(): () => void {
  const before = document.activeElement
  return () => {
    // A dialog that is taken out of the page takes its focus along.
    const isLost = document.activeElement === null || document.activeElement === document.body
    if (isLost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
  }
}
