/** What the tabs of this device tell each other. Each has a link of its own; only what no server tells goes here. */
export type TabMessage =
  | { type: 'signed-in' }
  | { type: 'signed-out' }
  | { type: 'unlinked' }
  | { type: 'seen'; id: string; seq: number }
  | { type: 'pinned'; ids: readonly string[]; isPinned: boolean }
  | { type: 'draft'; session: string; text: string }
  | { type: 'appearance' }
  | { type: 'account-changed' }

const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('afield')

/** To all other tabs, not to this one. */
export function tellTabs(message: TabMessage): void {
  channel?.postMessage(message)
}

/** Returned is what to call to hear no more. */
export function onTabs(listener: (message: TabMessage) => void): () => void {
  const hear = (event: MessageEvent<TabMessage>) => listener(event.data)
  channel?.addEventListener('message', hear)
  return () => channel?.removeEventListener('message', hear)
}
