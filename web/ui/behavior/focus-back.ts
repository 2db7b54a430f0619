/** Call before something opens over the page. Returns a function that restores the focus, unless it has moved elsewhere meanwhile. */
export function focusBack(): () => void {
  const before = document.activeElement
  return () => {
    // Removing a dialog from the page also removes the focus.
    const isLost = document.activeElement === null || document.activeElement === document.body
    if (isLost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
  }
}
