import 'fake-indexeddb/auto'
import t from 'tap'
import { deviceDb } from '../../../web/core/device-db.ts'
import { folderStart, keepLastStart, type LastStart, noteStart } from '../../../web/new/last-start.ts'

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
