import t from 'tap'
import { onTabs, tellTabs } from '../../../web/core/tabs.ts'

t.test('a browser without channels has no other tabs to tell', async t => {
  t.intercept(globalThis, 'BroadcastChannel', { value: undefined })
  tellTabs({ type: 'appearance' })
  t.doesNotThrow(onTabs(() => {}))
})

t.test('other tabs are told, and this one hears them until it no longer listens', async t => {
  class Channel extends EventTarget {
    readonly name: string
    readonly posted: unknown[] = []
    constructor(name: string) {
      super()
      this.name = name
      opened.push(this)
    }
    postMessage(message: unknown): void {
      this.posted.push(message)
    }
  }
  const opened: Channel[] = []
  t.intercept(globalThis, 'BroadcastChannel', { value: Channel })
  const heard: unknown[] = []
  const stop = onTabs(message => heard.push(message))
  tellTabs({ type: 'appearance' })
  const [channel] = opened
  t.same([opened.length, channel?.name, channel?.posted], [1, 'afield', [{ type: 'appearance' }]])
  const data = { type: 'draft', session: 's1', text: 'Prune' }
  channel?.dispatchEvent(Object.assign(new Event('message'), { data }))
  stop()
  channel?.dispatchEvent(Object.assign(new Event('message'), { data }))
  t.same(heard, [data])
})
