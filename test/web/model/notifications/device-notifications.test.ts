import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import type { Live } from '../../../../web/model/account/live.ts'
import { pageGlobals } from '../../kit/page-globals.ts'
import { sessionRow } from '../../kit/session-row.ts'

const android = 'Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36'
const linux = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

/** The browser of this device, and what it did. */
const device = {
  userAgent: android,
  webdriver: false,
  permission: 'default' as NotificationPermission,
  /** What the person says when the browser asks. */
  says: 'granted' as NotificationPermission,
  hasPushService: true,
  hasServer: true,
  done: [] as string[],
  listeners: 0
}

let subscription: object | null = null
const registration = {
  getNotifications: async () => [],
  pushManager: {
    getSubscription: async () => subscription,
    async subscribe() {
      if (!device.hasPushService) throw new DOMException('Registration failed', 'AbortError')
      device.done.push('subscribe')
      subscription = {
        options: { applicationServerKey: new Uint8Array([4, 0, 0]).buffer },
        toJSON: () => ({ endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } }),
        async unsubscribe() {
          device.done.push('unsubscribe')
          subscription = null
        }
      }
      return subscription
    }
  }
}
const serviceWorker = Object.assign(new EventTarget(), { ready: Promise.resolve(registration), getRegistration: async () => registration })
const page = pageGlobals(t, {
  navigator: {
    serviceWorker,
    maxTouchPoints: 0,
    get userAgent() {
      return device.userAgent
    },
    get webdriver() {
      return device.webdriver
    }
  },
  isSecureContext: true,
  location: { origin: 'https://home.example' },
  matchMedia: () => ({ matches: false }),
  PushManager: class {},
  Notification: {
    get permission() {
      return device.permission
    },
    async requestPermission() {
      device.done.push('ask')
      device.permission = device.says
    }
  }
})

const {
  areNotificationsChanging,
  areNotificationsOn,
  dismissPrompt,
  forgetNotifications,
  notificationProblem,
  shouldAsk,
  startNotifications,
  turnOff,
  turnOn
} = await import('../../../../web/model/notifications/device-notifications.ts')
const { refreshReach } = await import('../../../../web/model/notifications/notification-permission.ts')
const { updateHome } = await import('../../../../web/model/home.ts')
const { emptyHome } = await import('../../../../web/model/store.ts')

/** A device as new, with a link to its server. */
async function start(t: Test, given: Partial<typeof device> = {}) {
  const usual = {
    userAgent: android,
    webdriver: false,
    permission: 'default',
    says: 'granted',
    hasPushService: true,
    hasServer: true
  } as const
  Object.assign(device, usual, given)
  refreshReach()
  updateHome({ type: 'cleared' })
  dismissPrompt()
  await forgetNotifications()
  const call = async (name: string) => {
    if (name === 'readNotifications') throw new Error('not now')
    if (name === 'readPushKey') return { key: 'BAAA' }
    if (!device.hasServer) throw new Error('no network')
    device.done.push(name)
    return { success: true }
  }
  const socket = {
    onEphemeral() {
      device.listeners += 1
      return () => {
        device.listeners -= 1
      }
    }
  }
  // Only the members that are used.
  const stop = startNotifications({ rest: { call }, socket } as unknown as Live)
  t.teardown(stop)
  await settled()
  device.done.length = 0
  return stop
}

/** When everything that was begun is over. */
async function settled(): Promise<void> {
  while (areNotificationsChanging.value) await new Promise(setImmediate)
}

/** What was done since this was last asked. */
const done = () => device.done.splice(0)

t.test('a phone asks once there is a session, or the app was left, and "Not now" is for good', async t => {
  await start(t)
  t.equal(shouldAsk.value, false)
  page.show(false)
  t.equal(shouldAsk.value, true)
  t.equal(page.kept.get('afield-was-left'), 'yes')
  dismissPrompt()
  t.equal(shouldAsk.value, false)
  t.equal(page.kept.get('afield-ringing'), 'later')

  await start(t)
  t.same([page.kept.has('afield-ringing'), page.kept.has('afield-was-left'), shouldAsk.value], [false, false, false])
  const sessions = new Map([['s1', { ...sessionRow, id: 's1', metadata: undefined, last: undefined }]])
  updateHome({ type: 'restored', home: { ...emptyHome, sessions } })
  t.equal(shouldAsk.value, true)
})

t.test('a desktop, and a browser under automation, do not ask', async t => {
  for (const given of [{ userAgent: linux }, { webdriver: true }]) {
    await start(t, given)
    page.show(false)
    t.equal(shouldAsk.value, false)
    device.permission = 'granted'
    page.show(true)
    t.equal(areNotificationsOn.value, false, 'nor are notifications on without a choice')
  }
})

t.test('a phone that allowed them before has them on without being asked again', async t => {
  await start(t)
  page.show(false)
  device.permission = 'granted'
  page.show(true)
  await settled()
  t.same([areNotificationsOn.value, shouldAsk.value], [true, false])
  t.same(done(), ['subscribe', 'addPushToken'])
  dismissPrompt()
  t.equal(areNotificationsOn.value, false)
})

t.test('turned on, the browser asks first, and the server hears of it', async t => {
  await start(t, { userAgent: linux })
  const turning = turnOn()
  t.same(done(), ['ask'], 'in the tap itself')
  await turning
  t.same(done(), ['subscribe', 'addPushToken'])
  t.same([areNotificationsOn.value, notificationProblem.value, shouldAsk.value], [true, undefined, false])
  t.equal(page.kept.get('afield-ringing'), 'on')
  await turnOn()
  t.same(done(), ['addPushToken'], 'the person is not asked again')
})

t.test('a question of the browser that was closed changes nothing', async t => {
  await start(t, { says: 'default' })
  page.show(false)
  await turnOn()
  t.same(done(), ['ask'])
  t.same([page.kept.has('afield-ringing'), shouldAsk.value], [false, true])
})

t.test('a browser that denies it keeps the card, which says the way out', async t => {
  await start(t, { says: 'denied' })
  await turnOn()
  t.same([done(), areNotificationsOn.value, shouldAsk.value], [['ask'], false, true])
  t.equal(page.kept.get('afield-ringing'), 'on')
  device.permission = 'granted'
  page.show(true)
  await settled()
  t.same([done(), areNotificationsOn.value], [['subscribe', 'addPushToken'], true], 'once it is allowed in the settings of the browser')
  dismissPrompt()
  t.equal(shouldAsk.value, false)
})

t.test('a registration that failed says why, and is tried again when the app is shown', async t => {
  for (const [given, problem] of [
    [{ hasPushService: false }, 'push-service'],
    [{ hasServer: false }, 'server']
  ] as const) {
    await start(t, { userAgent: linux, ...given })
    await turnOn()
    t.same([areNotificationsOn.value, notificationProblem.value], [true, problem])
    Object.assign(device, { hasPushService: true, hasServer: true })
    page.show(false)
    t.equal(areNotificationsChanging.value, false, 'not when it is hidden')
    page.show(true)
    t.equal(areNotificationsChanging.value, true)
    await settled()
    t.equal(notificationProblem.value, undefined)
  }
})

t.test('turned off, browser and server both forget it, and a failure does not stay', async t => {
  await start(t, { userAgent: linux })
  await turnOn()
  done()
  await turnOff()
  t.same([done(), areNotificationsOn.value, page.kept.get('afield-ringing')], [['unsubscribe', 'removePushToken'], false, 'off'])
  device.hasServer = false
  await turnOn()
  t.equal(notificationProblem.value, 'server')
  const turning = turnOff()
  t.equal(notificationProblem.value, undefined, 'at once')
  await turning
  t.same([done(), areNotificationsChanging.value], [['subscribe', 'unsubscribe'], false])
})

t.test('of two taps the last one counts, however long the first takes', async t => {
  await start(t, { userAgent: linux, permission: 'granted' })
  await Promise.all([turnOn(), turnOff()])
  t.equal(areNotificationsOn.value, false)
  t.same(done(), [], 'the first had not begun')
  await Promise.all([turnOff(), turnOn()])
  t.equal(areNotificationsOn.value, true)
  t.same(done(), ['subscribe', 'addPushToken'])
})

t.test('a choice in another tab is followed, and other entries are not', async t => {
  await start(t, { userAgent: linux, permission: 'granted' })
  page.show(true)
  page.kept.set('afield-ringing', 'on')
  page.storeElsewhere('afield-lock', 'x')
  t.equal(areNotificationsOn.value, false)
  page.storeElsewhere('afield-ringing', 'on')
  t.equal(areNotificationsOn.value, true)
  page.storeElsewhere('afield-ringing', 'of a later version')
  t.equal(areNotificationsOn.value, false)
  page.storeElsewhere('afield-ringing', 'on')
  page.kept.clear()
  page.window.dispatchEvent(Object.assign(new Event('storage'), { key: null }))
  t.equal(areNotificationsOn.value, false, 'everything was cleared')
})

t.test('a phone that allowed them follows what was chosen in another tab', async t => {
  await start(t, { permission: 'granted' })
  for (const [choice, isOn] of [
    ['on', true],
    ['off', false],
    [undefined, true],
    ['later', false],
    ['damaged', true]
  ] as const) {
    page.storeElsewhere('afield-ringing', choice)
    t.equal(areNotificationsOn.value, isOn, String(choice))
  }
  await settled()
})

t.test('while they are on, the page shows notices itself', async t => {
  const stop = await start(t, { userAgent: linux })
  await turnOn()
  while (device.listeners === 0) await new Promise(setImmediate)
  t.equal(device.listeners, 1)
  await turnOff()
  t.equal(device.listeners, 0)
  void turnOn()
  void turnOff()
  await settled()
  await new Promise(setImmediate)
  t.equal(device.listeners, 0, 'turned off before it began')
  await turnOn()
  await new Promise(setImmediate)
  t.equal(device.listeners, 1)
  stop()
  t.equal(device.listeners, 0)
})

t.test('a link that ended registers nothing more, and a newer one is not ended with it', async t => {
  const stop = await start(t, { userAgent: linux })
  await turnOn()
  stop()
  done()
  page.show(true)
  await turnOn()
  t.same(done(), [], 'there is no link')
  page.storeElsewhere('afield-ringing', 'off')
  t.equal(areNotificationsOn.value, true, 'nor does it follow other tabs')
  await turnOff()
  t.same(done(), [])

  const before = await start(t, { userAgent: linux })
  await start(t, { userAgent: linux })
  before()
  await turnOn()
  t.same(done(), ['ask', 'subscribe', 'addPushToken'])
})

t.test('a sign-in that is over gets no more notifications, and the device counts as new', async t => {
  const stop = await start(t, { userAgent: linux })
  page.show(false)
  await turnOn()
  stop()
  done()
  await forgetNotifications()
  t.same([done(), [...page.kept.keys()], areNotificationsOn.value], [['unsubscribe'], [], false], 'the server has forgotten it by itself')
})
