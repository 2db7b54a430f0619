import t from 'tap'
import { setWatchedMinutes, watchedForMs, watchTouches } from '../../../../web/model/account/user-activity.ts'

/** The part of a page that receives touches. */
class Page extends EventTarget {
  visibilityState = 'visible'

  touch(): void {
    this.dispatchEvent(new Event('pointerdown'))
  }
}

t.test('a page counts as in use after a touch for as long as its person chose', async t => {
  const page = new Page()
  let now = 1_000_000
  let told = 0
  const stop = watchTouches(() => told++, { target: page as unknown as Document, now: () => now })
  t.equal(watchedForMs(now), 60_000, 'opening the app counts as a touch')
  now += 45_000
  t.equal(watchedForMs(now), 15_000)
  page.touch()
  t.equal(watchedForMs(now), 60_000)
  now += 90_000
  t.equal(watchedForMs(now), 0, 'it is not looked at any more')

  page.visibilityState = 'hidden'
  page.touch()
  t.equal(watchedForMs(now), 0, 'a hidden page is not touched')
  page.visibilityState = 'visible'
  const before = told
  setWatchedMinutes(0)
  t.equal(told, before + 1, 'another setting is reported at once')
  page.touch()
  t.equal(watchedForMs(now), 0, 'always notify')
  setWatchedMinutes(5)
  t.equal(watchedForMs(now), 300_000)
  stop()
  now += 10_000
  page.touch()
  t.equal(watchedForMs(now), 290_000, 'it has stopped')
  setWatchedMinutes(1)
})

t.test('the server is notified of touches, but not of each', async t => {
  const page = new Page()
  let now = 5_000_000
  let told = 0
  t.teardown(watchTouches(() => told++, { target: page as unknown as Document, now: () => now }))
  t.equal(told, 1)
  for (let each = 0; each < 20; each++) page.touch()
  t.equal(told, 1)
  now += 15_000
  page.touch()
  page.touch()
  t.equal(told, 2)
})

t.test('a choice applies from the first moment of the next start', async t => {
  const kept = new Map<string, string>()
  const localStorage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value)
  }
  Object.assign(globalThis, { localStorage })
  t.teardown(() => Reflect.deleteProperty(globalThis, 'localStorage'))
  setWatchedMinutes(3)
  // The query makes it a separate module instance, as after a reload.
  const again: typeof import('../../../../web/model/account/user-activity.ts') = await import(
    `../../../../web/model/account/user-activity.ts?${Date.now()}`
  )
  t.teardown(again.watchTouches(() => {}, { target: new Page() as unknown as Document, now: () => 9_000_000 }))
  t.equal(again.watchedForMs(9_000_000), 180_000)
})
