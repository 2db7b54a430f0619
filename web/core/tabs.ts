/** What the tabs of this device tell each other. Each has a link of its own; only what no server tells goes here. */
type TabMessage =
  | { type: 'seen'; id: string; seq: number }
  | { type: 'pinned'; ids: readonly string[]; isPinned: boolean }
  | { type: 'draft'; session: string; text: string }
  | { type: 'appearance' }
  /** Look again at what is kept of the account: no message says what. */
  | { type: 'account-changed' }

let opened: BroadcastChannel | undefined

function channel(): BroadcastChannel | undefined {
  if (typeof BroadcastChannel !== 'undefined') opened ??= new BroadcastChannel('afield')
  return opened
}

/** To all other tabs, not to this one. */
export function tellTabs(message: TabMessage): void {
  channel()?.postMessage(message)
}

/** Returned is what to call to hear no more. */
export function onTabs(listener: (message: TabMessage) => void): () => void {
  const hear = (event: MessageEvent<TabMessage>) => listener(event.data)
  channel()?.addEventListener('message', hear)
  return () => channel()?.removeEventListener('message', hear)
}
