import t, { type Test } from 'tap'
import { startLock } from '../../../../web/core/lock.ts'
import { route } from '../../../../web/core/router.ts'
import { hideAlert, showAlert, shownAlert } from '../../../../web/model/notifications/alerts.ts'
import { testTappedAt } from '../../../../web/model/notifications/test-tapped.ts'
import { listenToWorker } from '../../../../web/model/notifications/worker-requests.ts'
import { pageGlobals } from '../../kit/page-globals.ts'

const alert = { title: 'An agent has finished', body: 'Pears', path: '/s/s1', isSilent: true }

/** A page with a worker that tells it things. `tones` are those that it played. */
function openPage(t: Test, { isLocked = false, mayPlay = true } = {}) {
  const serviceWorker = new EventTarget()
  const tones = [] as string[]
  const over = Promise.withResolvers<void>()
  const page = pageGlobals(t, {
    navigator: { serviceWorker },
    AudioContext: class {
      state = mayPlay ? 'running' : 'suspended'
      currentTime = 3
      destination = 'speaker'
      resume = async () => void tones.push('resume')
      close = async () => over.resolve(void tones.push('close'))
      createOscillator() {
        const frequency = { value: 0 }
        return {
          frequency,
          connect: (volume: unknown) => volume,
          start: (at: number) => tones.push(`${frequency.value} Hz from ${at.toFixed(2)}`),
          stop: (at: number) => tones.push(`to ${at.toFixed(2)}`)
        }
      }
      createGain() {
        const note = (how: string) => (value: number, at: number) => tones.push(`${how} ${value} at ${at.toFixed(2)}`)
        return {
          gain: { setValueAtTime: note('volume'), linearRampToValueAtTime: note('rise'), exponentialRampToValueAtTime: note('fall') },
          connect: (to: unknown) => tones.push(`to the ${to}`)
        }
      }
    }
  })
  if (isLocked) page.kept.set('afield-lock', JSON.stringify({ choice: 'open', id: 'AAAA' }))
  startLock()
  hideAlert()
  const stop = listenToWorker()
  t.teardown(stop)
  t.teardown(hideAlert)
  const answers: unknown[] = []
  const tell = (data: unknown) =>
    serviceWorker.dispatchEvent(
      Object.assign(new Event('message'), { data, ports: [{ postMessage: (said: unknown) => answers.push(said) }] })
    )
  return { ...page, tell, stop, answers, tones, soundIsOver: over.promise }
}

t.test('the worker opens a screen in the page, which says that it has', async t => {
  const page = openPage(t)
  page.tell({ type: 'open', path: '/s/s1/changes' })
  t.same([route.value, page.answers], [{ name: 'session', id: 's1', view: ['changes'] }, ['taken']])
  t.equal(testTappedAt.value, undefined)
  page.tell({ type: 'open', path: '/settings/notifications' })
  t.same(route.value, { name: 'settings', page: 'notifications' })
  t.type(testTappedAt.value, 'number', 'the notification of a test arrived and was tapped')
  t.equal(page.answers.length, 2)
})

t.test('what a worker of another version says is left unanswered', async t => {
  const page = openPage(t)
  for (const data of [undefined, {}, { type: 'other', path: '/s/s9' }]) page.tell(data)
  t.same([page.answers, page.visited], [[], []])
})

t.test('an alert of the worker shows in the page, and over the lock it does not', async t => {
  for (const isLocked of [false, true]) {
    const page = openPage(t, { isLocked })
    page.tell({ type: 'alert', ...alert })
    t.same([shownAlert.value?.body, page.answers], [isLocked ? undefined : 'Pears', ['taken']])
    t.same(page.tones, [], 'a silent one makes no sound')
    page.stop()
    hideAlert()
    page.tell({ type: 'alert', ...alert })
    t.same([shownAlert.value, page.answers.length], [undefined, 1], 'nothing is heard after the end')
  }
})

t.test('an alert sounds like two short tones, over the lock too', async t => {
  const both = [
    ...['volume 0 at 3.00', 'rise 0.12 at 3.02', 'fall 0.001 at 3.14', 'to the speaker', '659 Hz from 3.00', 'to 3.14'],
    ...['volume 0 at 3.14', 'rise 0.12 at 3.16', 'fall 0.001 at 3.28', 'to the speaker', '880 Hz from 3.14', 'to 3.28']
  ]
  for (const [given, before] of [
    [{}, []],
    [{ isLocked: true }, []],
    [{ mayPlay: false }, ['resume']]
  ] as const) {
    const page = openPage(t, given)
    page.tell({ type: 'alert', ...alert, isSilent: false })
    await page.soundIsOver
    t.same(page.tones, [...before, ...both, 'close'])
  }
})

t.test('an alert goes after eight seconds, and a newer one has its own', async t => {
  const timers: { run: () => void; ms: number; isOff: boolean }[] = []
  t.intercept(globalThis, 'setTimeout', { value: (run: () => void, ms: number) => timers.push({ run, ms, isOff: false }) })
  t.intercept(globalThis, 'clearTimeout', { value: (id = 0) => timers[id - 1] && Object.assign(timers[id - 1] ?? {}, { isOff: true }) })
  showAlert(alert)
  showAlert({ ...alert, body: 'Apples' })
  t.equal(shownAlert.value?.body, 'Apples')
  t.same(
    timers.map(({ ms, isOff }) => [ms, isOff]),
    [
      [8_000, true],
      [8_000, false]
    ]
  )
  timers[1]?.run()
  t.equal(shownAlert.value, undefined)
  showAlert(alert)
  hideAlert()
  t.same([shownAlert.value, timers[2]?.isOff], [undefined, true])
})
