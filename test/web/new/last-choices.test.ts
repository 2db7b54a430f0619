import 'fake-indexeddb/auto'
import t from 'tap'
import { deviceDb } from '../../../web/core/device-db.ts'
import { keepChoices, lastChoices } from '../../../web/new/last-choices.ts'

const choices = { agents: [], recentFolders: ['/work'], home: '/home/mira' }

t.test('the choices of a machine are kept for while it is away, each machine its own', async t => {
  await keepChoices('m1', choices)
  t.same(await lastChoices('m1'), choices)
  t.match(await lastChoices('m2'), { recentFolders: [], home: '~' }, 'those of another are guessed')
  await keepChoices('m1', { ...choices, home: '/root' })
  t.match(await lastChoices('m1'), { home: '/root' })
})

t.test('what is stored damaged, or cannot be read, is as if nothing were', async t => {
  const db = await deviceDb()
  for (const damaged of ['text', null, { home: '/' }]) {
    await db.write('choices.m3', damaged)
    t.match(await lastChoices('m3'), { recentFolders: [], home: '~' })
  }
  t.intercept(db, 'read', { value: () => Promise.reject(new Error('closed')) })
  t.intercept(db, 'write', { value: () => Promise.reject(new Error('no room')) })
  await t.resolves(keepChoices('m1', choices))
  t.match(await lastChoices('m1'), { home: '~' })
})
