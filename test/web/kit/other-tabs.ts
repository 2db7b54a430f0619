/** The other tabs of this device. Call it before anything is told to them: a tab keeps the channel that it opened first. */
export function otherTabs() {
  const told: unknown[] = []
  const channels = new Set<EventTarget>()
  class Channel extends EventTarget {
    constructor() {
      super()
      channels.add(this)
    }
    postMessage(message: unknown) {
      told.push(message)
    }
  }
  Object.defineProperty(globalThis, 'BroadcastChannel', { value: Channel })
  return {
    /** What this tab told them. */
    told,
    /** One of them told this. */
    hear(data: unknown) {
      for (const channel of channels) channel.dispatchEvent(Object.assign(new Event('message'), { data }))
    }
  }
}
