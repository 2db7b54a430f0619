import 'fake-indexeddb/auto'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { autoSendName, openDraft } from '../../../../web/model/session/draft.ts'
import { otherTabs } from '../../kit/other-tabs.ts'

const tabs = otherTabs()

async function device(t: Test, kept: Record<string, unknown> = {}) {
  const db = await deviceDb()
  await db.erase()
  for (const [name, value] of Object.entries(kept)) await db.write(name, value)
  tabs.told.length = 0
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const told = async (count: number) => {
    while (tabs.told.length < count) await new Promise(resolve => setImmediate(resolve))
    return tabs.told
  }
  return { db, draft: openDraft('s1'), told }
}

t.test('a draft is stored a moment after it was begun, as it is by then, and other tabs are told', async t => {
  const { db, draft, told } = await device(t)
  draft.keepDraft('P')
  mock.timers.tick(300)
  draft.keepDraft('Pears')
  t.equal(await draft.readDraft(), 'Pears')
  mock.timers.tick(99)
  await new Promise(resolve => setImmediate(resolve))
  t.same(tabs.told, [])
  mock.timers.tick(1)
  t.same(await told(1), [{ type: 'draft', session: 's1', text: 'Pears' }])
  t.equal(await db.read('draft.s1'), 'Pears')
  draft.keepDraft('Plums')
  mock.timers.tick(400)
  await told(2)
  t.equal(await draft.readDraft(), 'Plums')
})

t.test('an emptied draft is removed at once, and one left behind is stored', async t => {
  const { db, draft, told } = await device(t, { 'draft.s1': 'Pears' })
  t.equal(await draft.readDraft(), 'Pears')
  draft.keepDraft('')
  t.equal(await draft.readDraft(), '')
  t.same(await told(1), [{ type: 'draft', session: 's1', text: '' }])
  t.equal(await db.read('draft.s1'), undefined)
  draft.keepDraft('Plums')
  draft.close()
  await told(2)
  t.equal(await db.read('draft.s1'), 'Plums')
  draft.close()
  mock.timers.tick(1_000)
  await db.read('draft.s1')
  t.equal(tabs.told.length, 2, 'once')
})

t.test('what is stored but no text is no draft', async t => {
  const { draft } = await device(t, { 'draft.s1': 4 })
  t.equal(await draft.readDraft(), '')
})

t.test('the draft of another tab is followed, except while this one is edited', async t => {
  const { draft, told } = await device(t)
  const heard: string[] = []
  const stop = draft.onDraft(text => heard.push(text))
  const said = (text: string, session = 's1') => tabs.hear({ type: 'draft', session, text })
  said('Pears')
  said('Elsewhere', 's2')
  tabs.hear({ type: 'appearance', session: 's1', text: 'x' })
  draft.keepDraft('Own')
  said('Plums')
  mock.timers.tick(400)
  await told(1)
  said('Figs')
  stop()
  said('Late')
  t.same(heard, ['Pears', 'Figs'])
})

t.test('a draft leaves automatically once, after so many files', async t => {
  const { db, draft } = await device(t, { [autoSendName('s1')]: 0, [autoSendName('s2')]: 'two' })
  t.equal(await openDraft('s3').takeLeaving(), undefined)
  t.equal(await openDraft('s2').takeLeaving(), undefined)
  t.equal(await draft.takeLeaving(), 0)
  t.equal(await draft.takeLeaving(), undefined)
  t.equal(await db.read('draft-leaves.s1'), undefined)
})
