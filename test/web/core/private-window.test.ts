import t from 'tap'
import { isForgetful } from '../../../web/core/private-window.ts'

t.test('only a browser that denies pages a file system is known to forget everything', async t => {
  const rows: [string, object, boolean][] = [
    ['one without storage', {}, false],
    ['an older one', { storage: {} }, false],
    ['a usual window', { storage: { getDirectory: async () => ({}) } }, false],
    ['a private one', { storage: { getDirectory: () => Promise.reject(new DOMException('denied', 'SecurityError')) } }, true]
  ]
  for (const [which, navigator, expected] of rows) {
    t.intercept(globalThis, 'navigator', { value: navigator })
    t.equal(await isForgetful(), expected, which)
  }
})
