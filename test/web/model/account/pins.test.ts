import t from 'tap'
import { openPins } from '../../../../web/model/account/pins.ts'

/** The storage that two tabs of a device share. */
function kept() {
  let value: unknown
  return async () => ({
    read: async () => value,
    write: async (_: string, next: unknown) => {
      value = next
    }
  })
}

t.test('what this device learned of another client survives a restart of the app, and is not forgotten [R8]', async t => {
  const db = kept()
  const first = await openPins(db)
  const other = await openPins(db)
  t.notOk(first.of('s1').isSet)
  first.of('s1').set()
  t.ok(first.of('s1').isSet)
  t.notOk(first.of('s2').isSet)
  await settled()
  other.of('s2').set()
  await settled()
  const later = await openPins(db)
  t.strictSame(
    ['s1', 's2', 's3'].map(target => later.of(target).isSet),
    [true, true, false],
    'whichever tab learnt it'
  )
})

t.test('where the browser cannot store it, it is known as long as the app is open [R8]', async t => {
  const pins = await openPins(() => Promise.reject(new Error('a private window')))
  pins.of('s1').set()
  t.ok(pins.of('s1').isSet)
})

/** Waits for all pending promises. */
function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
