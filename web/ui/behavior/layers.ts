/** The history entry of a layer over a screen. */
interface Layer {
  /** Does what Back does. */
  close(): void
  /** The layer was removed in another way: drops its entry from history. */
  end(): void
}

/** Gives a sheet its own history entry, so that Back closes it. */
export function pushLayer(onClosed: () => void): Layer {
  let isOpen = true
  let place = location.href
  const closed = () => {
    removeEventListener('popstate', closed)
    isOpen = false
    onClosed()
  }
  const push = () => {
    if (!isOpen) return
    history.pushState({ ...stateNow(), layer: true }, '')
    place = location.href
    addEventListener('popstate', closed)
  }
  // Pushed while another layer goes back, the entry would be removed with that one.
  if (isClosing) addEventListener('popstate', push, { once: true })
  else push()
  return {
    close: closeLayer,
    end() {
      if (!isOpen) return
      isOpen = false
      removeEventListener('popstate', closed)
      // Navigation to another screen has already replaced it.
      if (location.href === place) closeLayer()
    }
  }
}

/** Closes the top layer, once: the action that a sheet waited for may finish after the sheet was closed, and must not close the next. */
export function closeLayer(): void {
  if (isClosing || stateNow().layer !== true) return
  isClosing = true
  const closed = () => {
    isClosing = false
  }
  addEventListener('popstate', closed, { once: true })
  history.back()
}

let isClosing = false

/** Whether a sheet or a menu handles the keyboard. */
export function isCovered(): boolean {
  return document.querySelector('dialog[open], [role=menu]') !== null
}

/** The state that the browser stores with the current history entry. */
export function stateNow(): { from?: unknown; layer?: unknown } {
  const state: unknown = history.state
  return typeof state === 'object' && state !== null ? state : {}
}
