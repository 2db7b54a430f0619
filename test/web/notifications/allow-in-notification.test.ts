import 'fake-indexeddb/auto'
import t from 'tap'
import { deviceDb } from '../../../web/core/device-db.ts'
import { changeWorkerSettings, readWorkerSettings } from '../../../web/model/notifications/worker-settings.ts'
import { chooseMayAllow, mayAllowInNotification, readMayAllow } from '../../../web/notifications/allow-in-notification.ts'

t.test('allowing in a notification is off until the owner of the device turns it on, and stays as chosen', async t => {
  const db = await deviceDb()
  await readMayAllow()
  t.equal(mayAllowInNotification.value, false)
  await chooseMayAllow(true)
  t.equal(mayAllowInNotification.value, true)
  t.match(await readWorkerSettings(db), { mayAllow: true })
  await changeWorkerSettings(db, { mayAllow: false })
  await readMayAllow()
  t.equal(mayAllowInNotification.value, false)
})

t.test('a choice that could not be stored is not shown as made', async t => {
  t.intercept(await deviceDb(), 'change', { value: () => Promise.reject(new Error('no room')) })
  t.intercept(await deviceDb(), 'write', { value: () => Promise.reject(new Error('no room')) })
  await t.rejects(chooseMayAllow(true), { message: 'no room' })
  t.equal(mayAllowInNotification.value, false)
})
