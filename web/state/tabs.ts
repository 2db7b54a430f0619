/** What the tabs of this device tell each other. Each has a link of its own; only what no server tells goes here. */
export type TabMessage =
  | { type: 'signed-in' }
  | { type: 'signed-out' }
  | { type: 'unlinked' }
  | { type: 'seen'; id: string; seq: number }
  | { type: 'pinned'; ids: readonly string[]; isPinned: boolean }
  | { type: 'appearance' }
  | { type: 'account-changed' }

const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('afield')

/** To all other tabs, not to this one. */
export function tellTabs(message: TabMessage): void {
  channel?.postMessage(message)
}

export function onTabs(listener: (message: TabMessage) => void): void {
  channel?.addEventListener('message', (event: MessageEvent<TabMessage>) => listener(event.data))
}
