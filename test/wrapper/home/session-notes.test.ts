import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  forgetEndedByPerson,
  isEndedByLogout,
  isEndedByPerson,
  noteEndedByPerson,
  takeStart,
  wakingReason,
  writeStart
} from '../../../lib/wrapper/home/session-notes.ts'

t.test('what a session starts with is for that session, once, and for nobody else to read [W6]', async t => {
  const home = t.testdir()
  const started = { mode: 'plan', prompt: 'Prune the hedge', about: { isSideChat: true } }
  writeStart(home, 'one', started)
  writeStart(home, 'two', {})
  t.equal(statSync(join(home, 'starting', 'one.json')).mode & 0o777, 0o600)
  t.strictSame(takeStart(home, 'one'), started)
  t.strictSame(takeStart(home, 'one'), {})
  t.strictSame(readdirSync(join(home, 'starting')), ['two.json'])
})

t.test('what no session has claimed can be removed', async t => {
  const home = t.testdir()
  const remove = writeStart(home, 'one', { mode: 'plan' })
  remove()
  remove()
  t.strictSame(readdirSync(join(home, 'starting')), [])
})

t.test('a session without a name, or with one that is a path, starts with nothing', async t => {
  const home = t.testdir({ 'secret.json': '{"mode":"plan"}' })
  for (const tag of [undefined, '', '../secret', 'a'.repeat(65)]) t.strictSame(takeStart(home, tag), {}, `${tag}`)
  t.ok(statSync(join(home, 'secret.json')).isFile())
})

t.test('a session that a person ended is not woken by the reason for a no, and any other is by the last', async t => {
  const path = t.testdir()
  const reasons = ['one', 'two'].map(localId => ({ localId }))
  const known = { path, notes: { cursor: 0, reasons } }
  t.equal(wakingReason(known), 'two')
  t.equal(wakingReason({ path, notes: { cursor: 0 } }), undefined)
  t.equal(wakingReason({ path, notes: { cursor: 0, reasons, endedBy: 'person' } }), undefined)
  noteEndedByPerson(known)
  t.ok(isEndedByPerson(known))
  t.equal(wakingReason(known), undefined)
  forgetEndedByPerson(path)
  t.notOk(isEndedByPerson(known))
  t.equal(wakingReason(known), 'two')
})

t.test('a session can say that the computer was logged out, and only then', async t => {
  const path = t.testdir()
  t.equal(isEndedByLogout(path), false)
  noteEndedByPerson({ path })
  t.equal(isEndedByLogout(path), false)
  noteEndedByPerson({ path }, 'logout')
  t.equal(isEndedByLogout(path), true)
  forgetEndedByPerson(path)
  t.equal(isEndedByLogout(path), false)
})
