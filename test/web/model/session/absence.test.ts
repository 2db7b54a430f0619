import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { updateHome } from '../../../../web/model/home.ts'
import { absenceOf, lookAt } from '../../../../web/model/session/absence.ts'
import { turn } from '../../../client/link/fake-link.ts'
import { pageGlobals } from '../../kit/page-globals.ts'
import { sessionRow } from '../../kit/session-row.ts'

const minute = 60_000

/** A device that knows session `s1` up to message 7, at a time that a test controls. */
async function device(t: Test, kept?: unknown) {
  const db = await deviceDb()
  await db.erase()
  if (kept !== undefined) await db.write('looked.s1', kept)
  const page = pageGlobals(t)
  const time = { at: 100 * minute }
  t.intercept(Date, 'now', { value: () => time.at })
  const know = (seq: number) => updateHome({ type: 'session', session: { ...sessionRow, id: 's1', seq, metadata: undefined } })
  know(7)
  const settled = async () => {
    for (let round = 0; round < 3; round++) {
      await db.read('looked.s1')
      await turn()
    }
  }
  return { db, page, time, know, settled, left: () => db.read('looked.s1') }
}

t.test('a session is not looked at once it left the screen, and what is damaged is no absence', async t => {
  for (const kept of [null, 'x', {}, { seq: 1 }, { at: 1 }, { seq: '1', at: 1 }, { seq: 1, at: '1' }]) {
    const { page, settled, left, time } = await device(t, kept)
    const leave = lookAt('s1')
    await settled()
    t.equal(absenceOf('s1'), undefined, JSON.stringify(kept))
    leave()
    await settled()
    time.at += 30 * minute
    page.show(true)
    page.window.dispatchEvent(new Event('pagehide'))
    await settled()
    t.same(await left(), { seq: 7, at: 100 * minute })
  }
})

t.test('someone who returns after more than ten minutes was away, since the message that they saw last', async t => {
  const { time, know, settled, left } = await device(t)
  const leave = lookAt('s1')
  await settled()
  t.equal(absenceOf('s1'), undefined, 'the first time')
  leave()
  await settled()
  t.same(await left(), { seq: 7, at: 100 * minute })
  know(9)
  time.at += 10 * minute
  const back = lookAt('s1')
  await settled()
  t.equal(absenceOf('s1'), undefined, 'not for long')
  back()
  await settled()
  time.at += 10 * minute + 1
  const later = lookAt('s1')
  await settled()
  t.same(absenceOf('s1'), { seq: 9, endedAt: 120 * minute + 1, forMs: 10 * minute + 1 })
  t.equal(absenceOf('s2'), undefined)
  later()
  await settled()
  lookAt('s1')()
  await settled()
  t.equal(absenceOf('s1'), undefined, 'they were here since')
})

t.test('hiding the app is leaving, and showing it is coming back', async t => {
  const { page, time, settled, left } = await device(t)
  const leave = lookAt('s1')
  t.teardown(leave)
  await settled()
  page.show(false)
  await settled()
  t.same(await left(), { seq: 7, at: 100 * minute })
  time.at += 30 * minute
  page.show(false)
  await settled()
  t.same(await left(), { seq: 7, at: 100 * minute }, 'they were not here')
  page.show(true)
  await settled()
  t.match(absenceOf('s1'), { forMs: 30 * minute })
  time.at += 5 * minute
  page.show(true)
  await settled()
  t.match(absenceOf('s1'), { forMs: 30 * minute }, 'once per return')
  page.window.dispatchEvent(new Event('pagehide'))
  await settled()
  t.same(await left(), { seq: 7, at: 135 * minute })
})

t.test('of a session that this device does not know nothing is stored', async t => {
  const { db, settled } = await device(t)
  lookAt('s9')()
  await settled()
  t.equal(await db.read('looked.s9'), undefined)
})
