import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  forgetEndedByPerson,
  formatNotes,
  isEndedByLogout,
  isEndedByPerson,
  noteEndedByPerson,
  parseNotes,
  settledUpTo,
  takeStart,
  wakingReason,
  writeStart
} from '../../../lib/wrapper/home/session-notes.ts'

t.test('notes are read as they were written, also by versions that know two of them by other names', async t => {
  const notes = {
    tag: 'one',
    server: 'https://home.example',
    key: null,
    metadata: { path: '/code', host: 'here' },
    cursor: 3,
    turn: 'now',
    sentUpTo: { file: '/recording', offset: 7 },
    pendingPrompt: { seq: 4, text: 'Prune the hedge' }
  }
  t.strictSame(parseNotes(formatNotes(notes)), notes)
  const { toldUpTo, handing, ...others } = JSON.parse(formatNotes(notes))
  t.strictSame([toldUpTo, handing], [notes.sentUpTo, notes.pendingPrompt])
  t.strictSame(Object.keys(others), ['tag', 'server', 'key', 'metadata', 'cursor', 'turn'])
  for (const damaged of ['', '{}', JSON.stringify({ ...JSON.parse(formatNotes(notes)), tag: '../x' })])
    t.throws(() => parseNotes(damaged), damaged)
})

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
  writeStart(home, 'undefined', { mode: 'plan' })
  t.strictSame(takeStart(home, undefined), {}, 'nor that of a session by chance')
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

t.test('what came before a person ended a session does not resume it, and what its agent did not read resumes any other', async t => {
  const path = t.testdir()
  t.equal(settledUpTo({ path, notes: { cursor: 2, heardUpTo: 5 } }), 2)
  t.equal(settledUpTo({ path, notes: { cursor: 2, heardUpTo: 5, endedBy: 'itself' } }), 2)
  t.equal(settledUpTo({ path, notes: { cursor: 2, heardUpTo: 5, endedBy: 'person' } }), 5)
  t.equal(settledUpTo({ path, notes: { cursor: 2, endedBy: 'person' } }), 2)
  t.equal(settledUpTo({ path, notes: { cursor: 6, heardUpTo: 5, endedBy: 'person' } }), 6)
  noteEndedByPerson({ path })
  t.equal(settledUpTo({ path, notes: { cursor: 2, heardUpTo: 5 } }), 5)
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
