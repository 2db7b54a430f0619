import t, { type Test } from 'tap'
import { canLock, chooseLock, forgetLock, isLocked, lockChoice, startLock, stepUp, unlock, unlockWithKey } from '../../../web/core/lock.ts'

const minuteMs = 60_000

t.test('a locked app stays locked however often it is reloaded, left and reopened [H10]', t => {
  const page = openPage(t, { choice: 'after5' })
  page.hide()
  page.pass(6 * minuteMs)
  page.reload()
  t.equal(isLocked.value, true, 'the app was hidden for six minutes')
  for (const event of ['pagehide', 'visibilitychange'] as const) {
    page.leaveBy(event)
    page.reload()
    t.equal(isLocked.value, true, event)
  }
  t.end()
})

t.test('a page discarded in the background counts as last seen when it went there [H10]', t => {
  const page = openPage(t, { choice: 'after5' })
  page.hide()
  page.pass(6 * minuteMs)
  page.tell('pagehide')
  page.reload()
  t.equal(isLocked.value, true)
  t.end()
})

t.test('setting the clock back keeps nothing unlocked [H10] [C1]', t => {
  const page = openPage(t, { choice: 'after5' })
  page.hide()
  page.pass(6 * minuteMs)
  page.setClockBack(4 * minuteMs)
  page.show()
  t.equal(isLocked.value, true, 'the page itself counted six minutes')
  unlockWithKey('KEY', 'KEY')
  page.setClockBack(60 * minuteMs)
  page.reload()
  t.equal(isLocked.value, true, 'the owner cannot have been there in an hour from now')
  t.end()
})

t.test('unlocking one tab unlocks the others for the next five minutes [H10]', t => {
  const page = openPage(t, { choice: 'after5' })
  page.pass(6 * minuteMs)
  page.reload()
  t.equal(isLocked.value, true)
  t.equal(unlockWithKey('ke-y', 'KEY'), true)
  page.reload()
  t.equal(isLocked.value, false)
  page.hide()
  page.pass(6 * minuteMs)
  page.seenInOtherTab()
  page.show()
  t.equal(isLocked.value, false, 'its owner was in another tab a moment ago')
  t.end()
})

t.test('a lock set, changed or removed in one tab applies to all [H10]', t => {
  const page = openPage(t, { choice: undefined })
  page.chooseInOtherTab('open')
  t.equal(lockChoice.value, 'open')
  page.hide()
  page.show()
  t.equal(isLocked.value, true)
  page.chooseInOtherTab(undefined)
  t.equal(lockChoice.value, 'off')
  t.equal(isLocked.value, false)
  t.end()
})

t.test('only the owner of the device sets, changes and removes the lock [H10]', async t => {
  const page = openPage(t, { choice: undefined })
  const device = authenticator(t)
  const keptLock = () => JSON.parse(page.kept.get('afield-lock') ?? 'null')
  device.isThere = false
  t.equal(await chooseLock('after5'), 'unavailable')
  device.isThere = true
  device.isOwner = false
  t.equal(await chooseLock('after5'), 'refused')
  t.same([lockChoice.value, keptLock(), device.asked.splice(0)], ['off', null, ['create']])
  device.isOwner = true
  t.equal(await chooseLock('after5'), undefined)
  t.same([lockChoice.value, keptLock(), device.asked.splice(0)], ['after5', { choice: 'after5', id: 'AP-_' }, ['create']])

  device.isOwner = false
  for (const chosen of ['risky', 'off'] as const) t.equal(await chooseLock(chosen), 'refused')
  t.same([lockChoice.value, keptLock().choice, device.asked.splice(0)], ['after5', 'after5', ['0,255,191', '0,255,191']])
  device.isOwner = true
  t.equal(await chooseLock('open'), undefined)
  t.same(keptLock(), { choice: 'open', id: 'AP-_' }, 'with the same passkey')
  t.equal(await chooseLock('off'), undefined)
  t.same([lockChoice.value, keptLock(), page.kept.has('afield-seen-at')], ['off', null, false])
})

t.test('only the owner, or the account key, unlocks the app [H10]', async t => {
  const page = openPage(t, { choice: 'open' })
  const device = authenticator(t)
  t.equal(isLocked.value, true)
  device.isOwner = false
  t.equal(await unlock(), false)
  t.equal(unlockWithKey('KEZ', 'KEY'), false)
  t.equal(isLocked.value, true)
  device.isOwner = true
  device.whileAsking = () => {
    page.hide()
    page.show()
  }
  t.equal(await unlock(), true)
  t.equal(await stepUp(), true)
  t.equal(isLocked.value, false, 'although the prompt of the system hid the page')
  page.hide()
  t.equal(isLocked.value, true)
  page.kept.clear()
  page.tell('storage', { key: null })
  t.same([lockChoice.value, isLocked.value], ['off', false], 'everything was cleared in another tab')
  device.asked.length = 0
  t.equal(await unlock(), true)
  t.same(device.asked, [], 'nobody is asked without a lock')
})

t.test('forgetting the lock unlocks the app [H10]', async t => {
  const page = openPage(t, { choice: 'open' })
  forgetLock()
  t.same([lockChoice.value, isLocked.value, page.kept.size], ['off', false, 0])
})

/** The screen lock of a device, and what it was asked. */
function authenticator(t: Test) {
  const device = { isThere: true, isOwner: true, asked: [] as string[], options: [] as Record<string, unknown>[], whileAsking() {} }
  const answer = (asked: string) => {
    device.asked.push(asked)
    device.whileAsking()
    if (!device.isOwner) throw new DOMException('The operation was canceled.', 'NotAllowedError')
    return { id: 'AP-_' }
  }
  const credentials = {
    async create({ publicKey }: { publicKey: Record<string, unknown> }) {
      device.options.push(publicKey)
      return answer('create')
    },
    async get({ publicKey }: { publicKey: { allowCredentials: { id: Uint8Array }[] } }) {
      device.options.push(publicKey)
      return answer(`${publicKey.allowCredentials[0]?.id}`)
    }
  }
  t.intercept(globalThis, 'navigator', { value: { credentials } })
  const isUserVerifyingPlatformAuthenticatorAvailable = async () => device.isThere
  Object.assign(globalThis, { PublicKeyCredential: { isUserVerifyingPlatformAuthenticatorAvailable } })
  t.teardown(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'))
  return device
}

/** The parts of a browser that the lock uses: storage, the page's visibility, and two clocks. */
function openPage(t: Test, { choice }: { choice: string | undefined }) {
  let isShown = true
  let time = Date.UTC(2026, 0, 1)
  let ticks = 0
  let window = new EventTarget()
  let document = new EventTarget()
  const kept = new Map<string, string>()
  const localStorage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name)
  }
  const choose = (chosen: string | undefined) => {
    if (chosen === undefined) kept.delete('afield-lock')
    else kept.set('afield-lock', JSON.stringify({ choice: chosen, id: 'AAAA' }))
  }
  const globals = {
    localStorage,
    document: {
      addEventListener: (type: string, listener: () => void) => document.addEventListener(type, listener),
      get visibilityState() {
        return isShown ? 'visible' : 'hidden'
      }
    },
    window: { addEventListener: (type: string, listener: (event: Event) => void) => window.addEventListener(type, listener) }
  }
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true })
  t.teardown(() => {
    for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name)
  })
  t.intercept(Date, 'now', { value: () => time })
  t.intercept(performance, 'now', { value: () => ticks })

  const change = (shown: boolean) => {
    isShown = shown
    document.dispatchEvent(new Event('visibilitychange'))
  }
  const tell = (type: string, about: object = {}) => window.dispatchEvent(Object.assign(new Event(type), about))
  const load = () => {
    window = new EventTarget()
    document = new EventTarget()
    isShown = true
    startLock()
  }
  choose(choice)
  kept.set('afield-seen-at', String(time))
  load()
  return {
    hide: () => change(false),
    show: () => change(true),
    tell,
    leaveBy: (event: 'pagehide' | 'visibilitychange') => (event === 'pagehide' ? tell(event) : change(false)),
    reload: load,
    kept,
    pass(ms: number) {
      time += ms
      ticks += ms
    },
    setClockBack(ms: number) {
      time -= ms
    },
    seenInOtherTab: () => kept.set('afield-seen-at', String(time)),
    chooseInOtherTab(chosen: string | undefined) {
      choose(chosen)
      tell('storage', { key: 'afield-lock' })
    }
  }
}

t.test('a passkey of this device that verifies its owner is asked for, and nothing else [H10]', async t => {
  openPage(t, { choice: undefined })
  const device = authenticator(t)
  await chooseLock('after5')
  await stepUp()
  const [made, got] = device.options
  t.match(made, {
    rp: { name: 'Afield' },
    user: { name: 'Afield', displayName: 'Afield' },
    pubKeyCredParams: [
      { type: 'public-key', alg: -7 },
      { type: 'public-key', alg: -257 }
    ],
    authenticatorSelection: { authenticatorAttachment: 'platform', userVerification: 'required', residentKey: 'discouraged' },
    attestation: 'none'
  })
  t.match(got, { allowCredentials: [{ type: 'public-key', id: new Uint8Array([0, 255, 191]) }], userVerification: 'required' })
  t.same([bytesIn(made, 'challenge'), bytesIn(got, 'challenge'), bytesIn(made?.['user'], 'id')], [32, 32, 16])
})

t.test('a page restored from the cache of the browser asks again, and a new one decides by itself [H10]', t => {
  const page = openPage(t, { choice: 'after5' })
  page.tell('pagehide')
  page.pass(6 * minuteMs)
  page.tell('pageshow', { persisted: false })
  t.equal(isLocked.value, false)
  page.tell('pageshow', { persisted: true })
  t.equal(isLocked.value, true)
  t.end()
})

t.test('a lock that is stored damaged does not lock, and is as if there were none', async t => {
  const page = openPage(t, { choice: undefined })
  for (const kept of [
    'no json',
    'null',
    '7',
    '{}',
    '{"choice":"open"}',
    '{"id":"AAAA"}',
    '{"choice":"open","id":5}',
    '{"choice":"off","id":"AAAA"}',
    '"text"',
    '{"choice":"never","id":"AAAA"}'
  ]) {
    page.kept.set('afield-lock', kept)
    page.reload()
    t.same([lockChoice.value, isLocked.value], ['off', false], kept)
  }
})

t.test('away for exactly five minutes is away, and a moment less is not [H10]', t => {
  for (const [ms, expected] of [
    [5 * minuteMs - 1, false],
    [5 * minuteMs, true]
  ] as const) {
    const page = openPage(t, { choice: 'after5' })
    page.hide()
    page.pass(ms)
    page.show()
    t.equal(isLocked.value, expected, `${ms}`)
    page.reload()
    t.equal(isLocked.value, expected, `${ms}, reloaded`)
  }
  t.end()
})

t.test('without a lock, and with one for risky requests alone, leaving the app locks nothing [H10]', t => {
  for (const choice of [undefined, 'risky']) {
    const page = openPage(t, { choice })
    page.hide()
    page.pass(60 * minuteMs)
    page.show()
    page.reload()
    t.same([isLocked.value, lockChoice.value], [false, choice ?? 'off'])
  }
  t.end()
})

function bytesIn(of: unknown, name: string): number {
  const bytes = Object(of)[name]
  return bytes instanceof Uint8Array ? bytes.length : 0
}

t.test('when the app was last seen is stored only for a lock that asks after some time', t => {
  for (const [choice, isNoted] of [
    [undefined, false],
    ['open', false],
    ['risky', false],
    ['after5', true]
  ] as const) {
    const page = openPage(t, { choice })
    unlockWithKey('KEY', 'KEY')
    page.kept.delete('afield-seen-at')
    page.hide()
    t.equal(page.kept.has('afield-seen-at'), isNoted, String(choice))
  }
  t.end()
})

t.test('a sensitive action asks for the owner where there is a lock, and nobody where there is none [H10]', async t => {
  const device = authenticator(t)
  device.isOwner = false
  openPage(t, { choice: undefined })
  t.same([await stepUp(), device.asked], [true, []])
  for (const choice of ['open', 'after5', 'risky']) {
    openPage(t, { choice })
    t.equal(await stepUp(), false, choice)
  }
  t.equal(device.asked.length, 3)
})

t.test('a device whose screen lock is gone can still change or remove the lock of its owner', async t => {
  openPage(t, { choice: 'open' })
  const device = authenticator(t)
  device.isThere = false
  t.equal(await canLock(), false)
  t.equal(await chooseLock('after5'), undefined)
  t.equal(lockChoice.value, 'after5')
  Reflect.deleteProperty(globalThis, 'PublicKeyCredential')
  t.equal(await canLock(), false)
})
