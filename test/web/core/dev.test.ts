import t from 'tap'
import { pageGlobals } from '../kit/page-globals.ts'

const done: string[] = []
const workers = ['one', 'two'].map(name => ({
  async unregister() {
    done.push(`unregister ${name}`)
  }
}))
const serviceWorker = { register: async () => done.push('register'), getRegistrations: async () => workers }
const page = pageGlobals(t, { navigator: { serviceWorker } })

t.test('an app in development keeps nothing on the device, and removes what was kept before', async t => {
  const asked: string[] = []
  const querySelector = (selector: string) => ({ of: asked.push(selector) })
  Object.assign(page.document, { querySelector })
  const { startUpdates } = await import('../../../web/core/updates.ts')
  startUpdates()
  await new Promise(setImmediate)
  t.same(asked, ['meta[name="afield-dev"]'])
  t.same(done, ['unregister one', 'unregister two'])
  t.intercept(serviceWorker, 'getRegistrations', { value: () => Promise.reject(new Error('not allowed')) })
  startUpdates()
  await new Promise(setImmediate)
})
