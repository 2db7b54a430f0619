import { mock } from 'node:test'
import t from 'tap'
import {
  awaySince,
  connection,
  connectionOf,
  type LinkFacts,
  lastingConnection,
  lastingProgress,
  noteLink,
  noteProgress,
  watchDevice
} from '../../../web/core/connection.ts'
import { pageGlobals } from '../kit/page-globals.ts'

t.test('the link status follows network, connection and feed', async t => {
  const rows: [Partial<LinkFacts>, string][] = [
    [{}, 'starting'],
    [{ socket: 'connecting', feed: 'catching-up' }, 'starting'],
    [{ socket: 'live', feed: 'catching-up' }, 'catching-up'],
    [{ socket: 'live', feed: 'live' }, 'live'],
    [{ socket: 'down', feed: 'away', nextTryAt: 5 }, 'silent'],
    [{ socket: 'connecting', feed: 'away' }, 'silent'],
    [{ isOnline: false, socket: 'down', feed: 'away' }, 'offline'],
    [{ isOnline: false, socket: 'connecting', feed: 'catching-up' }, 'offline'],
    [{ socket: 'none', feed: 'away' }, 'starting'],
    [{ socket: 'closed', feed: 'away' }, 'starting'],
    [{ isOnline: false, socket: 'live', feed: 'away' }, 'catching-up'],
    // The browser may think it is offline while a server on the same machine answers; what works is not offline.
    [{ isOnline: false, socket: 'live', feed: 'live' }, 'live']
  ]
  for (const [facts, type] of rows) {
    t.equal(
      connectionOf({ isOnline: true, socket: 'none', nextTryAt: undefined, feed: 'none', ...facts }).type,
      type,
      JSON.stringify(facts)
    )
  }
})

t.test('a short loss of the connection is not shown, and while one is shown every change is at once', t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const shown = () => lastingConnection.value.type
  noteLink({ isOnline: true, socket: 'live', feed: 'live' })
  t.equal(shown(), 'live')
  noteLink({ socket: 'down', feed: 'away' })
  mock.timers.tick(1_999)
  t.equal(shown(), 'live')
  t.type(awaySince.value, 'number')
  noteLink({ socket: 'live', feed: 'live' })
  mock.timers.tick(2_000)
  t.equal(shown(), 'live', 'it came back in time')
  t.equal(awaySince.value, undefined)

  noteLink({ socket: 'down', feed: 'away' })
  const since = awaySince.value
  mock.timers.tick(1_000)
  noteLink({ isOnline: false })
  mock.timers.tick(1_000)
  t.equal(shown(), 'offline', 'two seconds after the first loss, as it is by then')
  noteLink({ isOnline: true })
  t.equal(shown(), 'silent')
  t.equal(awaySince.value, since)
  noteLink({ socket: 'live', feed: 'catching-up' })
  t.equal(shown(), 'catching-up')
  noteLink({ feed: 'live' })
  t.equal(shown(), 'live')
  t.end()
})

t.test('messages that take long to read are counted on the screen, and others are not', t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  noteProgress({ done: 1, all: 9 })
  mock.timers.tick(1_999)
  t.equal(lastingProgress.value, undefined)
  noteProgress({ done: 2, all: 9 })
  mock.timers.tick(1)
  t.same(lastingProgress.value, { done: 2, all: 9 })
  noteProgress(undefined)
  t.equal(lastingProgress.value, undefined)
  noteProgress({ done: 1, all: 3 })
  noteProgress(undefined)
  mock.timers.tick(2_000)
  noteProgress({ done: 1, all: 3 })
  t.equal(lastingProgress.value, undefined, 'each time it takes as long')
  mock.timers.tick(2_000)
  t.same(lastingProgress.value, { done: 1, all: 3 })
  noteProgress(undefined)
  t.end()
})

t.test('a device that wakes up, is shown or gets its network back tries at once', async t => {
  const navigator = { onLine: true }
  const page = pageGlobals(t, { navigator })
  noteLink({ socket: 'none', feed: 'none' })
  // Once it is back, nothing waits to be shown.
  t.teardown(() => noteLink({ socket: 'live', feed: 'live' }))
  const told: unknown[] = []
  const stop = watchDevice({ wake: () => told.push('wake'), lost: () => told.push('lost'), shown: isShown => told.push(isShown) })
  const tell = (target: EventTarget, type: string, more = {}) => {
    target.dispatchEvent(Object.assign(new Event(type), more))
    return told.splice(0)
  }
  page.show(true)
  t.same(told.splice(0), [true, 'wake'])
  page.show(false)
  t.same(told.splice(0), [false])
  t.same(tell(page.window, 'pageshow', { persisted: true }), ['wake'])
  t.same(tell(page.window, 'pageshow', { persisted: false }), [], 'a page that loads does so anyway')
  t.same(tell(page.document, 'resume'), ['wake'])
  navigator.onLine = false
  t.same([tell(page.window, 'offline'), connection.value.type], [['lost'], 'offline'])
  navigator.onLine = true
  t.same([tell(page.window, 'online'), connection.value.type], [['wake'], 'starting'])
  stop()
  page.show(true)
  for (const type of ['pageshow', 'online']) t.same(tell(page.window, type, { persisted: true }), [])
  t.same(tell(page.document, 'resume'), [])
})

t.test('a device without a network knows so from the start', async t => {
  pageGlobals(t, { navigator: { onLine: false } })
  noteLink({ isOnline: true, socket: 'none', feed: 'none' })
  t.teardown(() => noteLink({ isOnline: true, socket: 'live', feed: 'live' }))
  t.teardown(watchDevice({ wake() {}, lost() {}, shown() {} }))
  t.equal(connection.value.type, 'offline')
})

t.test('a loss after a short one is shown after two seconds of its own', t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const [up, down] = [
    { socket: 'live', feed: 'live' },
    { socket: 'down', feed: 'away' }
  ] as const
  noteLink({ isOnline: true, ...up })
  for (const _ of [1, 2, 3]) {
    noteLink(down)
    mock.timers.tick(1_500)
    t.equal(lastingConnection.value.type, 'live')
    noteLink(up)
  }
  noteLink(down)
  mock.timers.tick(2_000)
  t.equal(lastingConnection.value.type, 'silent')
  noteLink(up)
  noteLink(down)
  mock.timers.tick(2_000)
  t.equal(lastingConnection.value.type, 'silent', 'and again')
  noteLink(up)
  t.end()
})

t.test('an app that has just started is not away, and says so at once only when it had a connection', t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  noteLink({ isOnline: true, socket: 'live', feed: 'live' })
  noteLink({ socket: 'none', feed: 'none' })
  t.equal(awaySince.value, undefined)
  mock.timers.tick(2_000)
  t.equal(lastingConnection.value.type, 'starting')
  noteLink({ socket: 'down', feed: 'away' })
  t.equal(lastingConnection.value.type, 'starting', 'the first attempt may have been too early')
  t.type(awaySince.value, 'number')
  mock.timers.tick(2_000)
  t.equal(lastingConnection.value.type, 'silent')
  noteLink({ socket: 'live', feed: 'live' })
  t.end()
})
