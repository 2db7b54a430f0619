/** Messages between the tabs of this device. Each tab has its own connection, so only facts that no server reports are sent here. */
type TabMessage =
  | { type: 'seen'; id: string; seq: number }
  | { type: 'pinned'; ids: readonly string[]; isPinned: boolean }
  | { type: 'draft'; session: string; text: string }
  | { type: 'appearance' }
  /** Read the stored account again; no message contains it. */
  | { type: 'account-changed' }

let opened: BroadcastChannel | undefined

function channel(): BroadcastChannel | undefined {
  if (typeof BroadcastChannel !== 'undefined') opened ??= new BroadcastChannel('afield')
  return opened
}

/** Sends to all other tabs, not to this one. */
export function tellTabs(message: TabMessage): void {
  channel()?.postMessage(message)
}

/** Returns a function that unsubscribes. */
export function onTabs(listener: (message: TabMessage) => void): () => void {
  const hear = (event: MessageEvent<TabMessage>) => listener(event.data)
  channel()?.addEventListener('message', hear)
  return () => channel()?.removeEventListener('message', hear)
}
