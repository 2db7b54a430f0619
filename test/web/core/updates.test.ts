import t from 'tap'
import { pageGlobals } from '../kit/page-globals.ts'

const done: string[] = []

class Worker extends EventTarget {
  state = 'installing'
  readonly name: string
  constructor(name: string) {
    super()
    this.name = name
  }
  postMessage(message: string) {
    done.push(`${this.name}: ${message}`)
  }
  become(state: string) {
    this.state = state
    this.dispatchEvent(new Event('statechange'))
  }
}

const registration = Object.assign(new EventTarget(), {
  waiting: null as Worker | null,
  installing: null as Worker | null,
  async update() {
    done.push('update')
    throw new Error('no network')
  }
})
const serviceWorker = Object.assign(new EventTarget(), {
  controller: null as object | null,
  async register(url: string) {
    done.push(`register ${url}`)
    return registration
  }
})
const device: Record<string, unknown> = {}
const page = pageGlobals(t, { navigator: device, location: { reload: () => done.push('reload') } })
const { isNewerReady, reloadIntoNewer, startUpdates } = await import('../../../web/core/updates.ts')

const turn = () => new Promise<void>(resolve => setImmediate(resolve))
/** A newer app arrives on this device and is installed. */
function arrive(name: string): Worker {
  const worker = new Worker(name)
  registration.installing = worker
  registration.dispatchEvent(new Event('updatefound'))
  worker.become('installed')
  return worker
}

t.test('a browser without service workers opens the app without them', t => {
  startUpdates()
  t.same([done, isNewerReady.value], [[], false])
  t.end()
})

t.test('the app is kept on the device, and the person is told once a newer one is installed', async t => {
  device['serviceWorker'] = serviceWorker
  startUpdates()
  await turn()
  t.same(done.splice(0), ['register /worker.js'])
  t.equal(isNewerReady.value, false)

  arrive('first').become('activated')
  t.equal(isNewerReady.value, false, 'the very first one replaces nothing')

  serviceWorker.controller = {}
  const newer = new Worker('newer')
  registration.installing = newer
  registration.dispatchEvent(new Event('updatefound'))
  t.equal(isNewerReady.value, false, 'it is still installing')
  newer.become('redundant')
  t.equal(isNewerReady.value, false, 'it could not be installed')
  newer.become('installed')
  t.equal(isNewerReady.value, true)

  reloadIntoNewer()
  t.same(done.splice(0), ['newer: take-over'], 'the page is reloaded once the newer app has taken over')
  serviceWorker.dispatchEvent(new Event('controllerchange'))
  serviceWorker.dispatchEvent(new Event('controllerchange'))
  t.same(done.splice(0), ['reload'])
})

t.test('one installed before the page was opened is offered at once', async t => {
  registration.waiting = new Worker('waiting')
  startUpdates()
  await turn()
  t.equal(isNewerReady.value, true)
  done.length = 0
  reloadIntoNewer()
  t.same(done.splice(0), ['waiting: take-over'])
})

t.test('the server is asked for a newer app whenever the page is shown, and failing to is no trouble', async t => {
  page.show(false)
  t.same(done, [])
  page.show(true)
  await turn()
  t.ok(done.includes('update'))
})

t.test('a browser that cannot keep the app opens it all the same', async t => {
  t.intercept(serviceWorker, 'register', { value: () => Promise.reject(new Error('no room')) })
  startUpdates()
  await turn()
})

t.test('the address of the worker is the only text that may become a script', async t => {
  const made: string[] = []
  Object.assign(globalThis, {
    trustedTypes: {
      createPolicy(name: string, rules: { createScriptURL(url: string): string }) {
        made.push(name)
        return { createScriptURL: (url: string) => `trusted ${rules.createScriptURL(`https://evil.example/${url}`)}` }
      }
    }
  })
  t.teardown(() => Reflect.deleteProperty(globalThis, 'trustedTypes'))
  done.length = 0
  startUpdates()
  await turn()
  t.same([made, done], [['afield-worker'], ['register trusted /worker.js']])
})
