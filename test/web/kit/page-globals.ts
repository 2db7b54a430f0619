import type { Test } from 'tap'

/** The globals of a page, for code without a screen. They are there until the test is over. */
export interface PageGlobals {
  readonly document: EventTarget & { visibilityState: 'visible' | 'hidden' }
  readonly window: EventTarget
  /** What `localStorage` has. */
  readonly kept: Map<string, string>
  /** The addresses that were pushed or replaced, last one last. */
  readonly visited: string[]
  show(isShown: boolean): void
  /** Another tab of this device stored this, or removed it. */
  storeElsewhere(name: string, value: string | undefined): void
}

export function pageGlobals(t: Pick<Test, 'teardown'>, more: Readonly<Record<string, unknown>> = {}): PageGlobals {
  const window = new EventTarget()
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' as 'visible' | 'hidden', querySelector: () => null })
  const kept = new Map<string, string>()
  const visited: string[] = []
  let state: unknown = null
  const visit = (next: unknown, _: string, path: string) => {
    state = next
    visited.push(path)
  }
  const globals = {
    window,
    document,
    addEventListener: window.addEventListener.bind(window),
    removeEventListener: window.removeEventListener.bind(window),
    localStorage: {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => void kept.set(name, value),
      removeItem: (name: string) => void kept.delete(name)
    },
    history: {
      get state() {
        return state
      },
      pushState: visit,
      replaceState: visit
    },
    ...more
  }
  for (const [name, value] of Object.entries(globals)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name)
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
    t.teardown(() => (before ? Object.defineProperty(globalThis, name, before) : Reflect.deleteProperty(globalThis, name)))
  }
  return {
    ...{ document, window, kept, visited },
    show(isShown) {
      document.visibilityState = isShown ? 'visible' : 'hidden'
      document.dispatchEvent(new Event('visibilitychange'))
    },
    storeElsewhere(name, value) {
      if (value === undefined) kept.delete(name)
      else kept.set(name, value)
      window.dispatchEvent(Object.assign(new Event('storage'), { key: name }))
    }
  }
}
