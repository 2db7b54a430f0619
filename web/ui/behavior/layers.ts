/** A place in history for what lies over a screen. */
interface Layer {
  /** As Back does, from the inside. */
  close(): void
  /** It is gone without that: nothing of it stays in history. */
  end(): void
}

/** Gives a sheet a place in history, so that Back closes it. */
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
  // Opened while another one goes back, it would go with that.
  if (isClosing) addEventListener('popstate', push, { once: true })
  else push()
  return {
    close: closeLayer,
    end() {
      if (!isOpen) return
      isOpen = false
      removeEventListener('popstate', closed)
      // What led to another screen has taken its place.
      if (location.href === place) closeLayer()
    }
  }
}

/** Closes what is on top of the screen. Once, and nothing below it: what a sheet waited for may be done after it was left. */
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

/** Whether a sheet or a menu has the keys. */
export function isCovered(): boolean {
  return document.querySelector('dialog[open], [role=menu]') !== null
}

/** What the browser keeps with this entry of its history. */
export function stateNow(): { from?: unknown; layer?: unknown } {
  const state: unknown = history.state
  return typeof state === 'object' && state !== null ? state : {}
}
