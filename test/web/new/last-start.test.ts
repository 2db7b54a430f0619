import 'fake-indexeddb/auto'
import t from 'tap'
import { deviceDb } from '../../../web/core/device-db.ts'
import { folderStart, keepLastStart, type LastStart, noteStart, useLastStart } from '../../../web/new/last-start.ts'
import { inComponent } from '../kit/in-component.ts'

const chosen = { agent: 'claude', mode: 'plan', model: 'fast', effort: 'low' }

async function stored(): Promise<LastStart> {
  return Object(await (await deviceDb()).read('start'))
}

t.test('the choices of a start are kept for its machine and folder, and the draft beside them', async t => {
  keepLastStart({ text: 'Prune the pears' })
  noteStart('m1', '/work', chosen)
  noteStart('m2', '/work', { ...chosen, agent: 'codex', worktree: true })
  const last = await stored()
  t.match(last, { text: 'Prune the pears', machine: 'm2', folder: '/work', agent: 'codex', mode: 'plan' })
  t.same(folderStart(last, 'm1', '/work'), chosen)
  t.match(folderStart(last, 'm2', '/work'), { agent: 'codex', worktree: true })
  t.equal(folderStart(last, 'm1', '/home'), undefined)
  t.equal(folderStart(last, 'm1', undefined), undefined)
  t.equal(folderStart({}, 'm1', '/work'), undefined)
})

t.test('the thirty folders used last are kept', async t => {
  for (let index = 0; index < 30; index++) noteStart('m1', `/work/${index}`, chosen)
  noteStart('m1', '/work/0', { ...chosen, mode: 'default' })
  noteStart('m1', '/work/30', chosen)
  const last = await stored()
  t.equal(Object.keys(last.folders ?? {}).length, 30)
  t.match(folderStart(last, 'm1', '/work/0'), { mode: 'default' }, 'it was used again')
  t.equal(folderStart(last, 'm1', '/work/1'), undefined)
  t.ok(folderStart(last, 'm1', '/work/2'))
})

t.test('a device that stores nothing starts sessions all the same', async t => {
  t.intercept(await deviceDb(), 'write', { value: () => Promise.reject(new Error('no room')) })
  keepLastStart({ text: 'never' })
  await new Promise(setImmediate)
  t.notMatch(await stored(), { text: 'never' })
})

t.test('the next start begins with what was chosen last, and changes no more of it than it says', async t => {
  await (await deviceDb()).write('start', { text: 'Prune the pears', machine: 'm1' })
  const last = inComponent(t, useLastStart)
  t.equal(last.latest, undefined, 'it is being read')
  while (last.latest === undefined) await last.act(() => new Promise(setImmediate))
  t.same(last.latest, { text: 'Prune the pears', machine: 'm1' })
  keepLastStart({ machine: 'm2' })
  await new Promise(setImmediate)
  t.same(await stored(), { text: 'Prune the pears', machine: 'm2' })
})

t.test('where nothing was chosen, or nothing can be read, it begins empty', async t => {
  const db = await deviceDb()
  for (const read of [async () => undefined, async () => null, () => Promise.reject(new Error('damaged'))]) {
    t.intercept(db, 'read', { value: read })
    const last = inComponent(t, useLastStart)
    while (last.latest === undefined) await last.act(() => new Promise(setImmediate))
    t.same(last.latest, {})
  }
})
