import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import {
  createSessionFolder,
  endedIn,
  findDamaged,
  findLeftovers,
  findOwned,
  type KnownSession,
  listOpenSessions,
  listSessions,
  openEditedFiles,
  readNotes,
  reopen,
  takeOver
} from '../../../lib/wrapper/home/session-folder.ts'
import { noteEndedByPerson } from '../../../lib/wrapper/home/session-notes.ts'

const notes = { tag: 'tag', server: 'https://one', key: 'a2V5', metadata: { path: '/a', host: 'h' }, cursor: 0, turn: null }

t.test('the folder of a running process belongs to it alone, and an ended one keeps its notes', t => {
  const home = t.testdir()
  const folder = createSessionFolder(home, notes)
  t.strictSame(findLeftovers(home), [])
  folder.note({ cursor: 7, turn: 'a turn' })
  const [name = ''] = readdirSync(join(home, 'sessions'))
  t.match(readNotes(join(home, 'sessions', name)), { cursor: 7, turn: 'a turn', tag: 'tag' })
  folder.retire()
  t.strictSame(readdirSync(join(home, 'sessions')), [])
  t.end()
})

t.test('notes on disk keep the keys of the first version, so that every version can read them', t => {
  const home = t.testdir()
  const folder = createSessionFolder(home, notes)
  const file = join(folder.path, 'session.json')
  const toldUpTo = { file: '/transcript', offset: 12 }
  const handing = { seq: 3, localId: 'three', text: 'go on', isAhead: true, edits: [4] }
  writeFileSync(file, JSON.stringify({ ...notes, toldUpTo, handing, turnAt: null }))
  const before = readNotes(folder.path)
  t.strictSame(before, { ...notes, sentUpTo: toldUpTo, pendingPrompt: handing, turnAt: null })
  folder.note({ ...before, cursor: 3 })
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), { ...notes, cursor: 3, toldUpTo, handing, turnAt: null })
  t.end()
})

t.test('nobody else can read its content [W6]', t => {
  const home = t.testdir()
  createSessionFolder(home, notes)
  const [name = ''] = readdirSync(join(home, 'sessions'))
  t.equal(statSync(join(home, 'sessions')).mode & 0o777, 0o700)
  t.equal(statSync(join(home, 'sessions', name)).mode & 0o777, 0o700)
  t.equal(statSync(join(home, 'sessions', name, 'session.json')).mode & 0o777, 0o600)
  t.end()
})

t.test('the folder of a dead process is taken over by exactly one, although its pid may be in use again', async t => {
  const home = t.testdir()
  createSessionFolder(home, notes)
  const sessions = join(home, 'sessions')
  const [name = ''] = readdirSync(sessions)
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  for (const owner of [`${child.pid}-1`, `${process.pid}-1`]) {
    const dead = join(sessions, name.replace(/@.*/, `@${owner}`))
    renameSync(join(sessions, readdirSync(sessions)[0] ?? ''), dead)
    t.strictSame(findLeftovers(home), [dead], owner)
    t.match(takeOver(dead)?.notes, { tag: 'tag' })
    t.equal(takeOver(dead), undefined, 'the second comes too late')
    t.strictSame(findLeftovers(home), [])
  }
})

t.test('a folder whose owner died before writing anything is removed; one with messages stays', t => {
  const home = t.testdir()
  const sessions = join(home, 'sessions')
  const empty = join(sessions, 'a@1-1')
  const withMessages = join(sessions, 'b@1-1')
  for (const path of [empty, withMessages]) mkdirSync(path, { recursive: true })
  writeFileSync(join(withMessages, 'outbox.journal'), 'x')
  t.equal(takeOver(empty), undefined)
  t.equal(takeOver(withMessages), undefined)
  t.match(readdirSync(sessions), [/^b@/])
  t.end()
})

t.test('every session of this computer is listed with the process that has it, the latest first', t => {
  const home = t.testdir()
  const sessions = join(home, 'sessions')
  const create = (tag: string) => createSessionFolder(home, { ...notes, tag })
  create('running')
  create('abandoned').giveBack()
  create('left').giveBack()
  takeOver(join(sessions, 'left@nobody'))
  create('ended').retire()
  for (const { path, notes } of listSessions(home)) {
    const at = ['ended', 'running', 'abandoned', 'left'].indexOf(notes.tag)
    utimesSync(join(path, 'session.json'), 1000 + at, 1000 + at)
  }
  const facts = (known: KnownSession[]) => known.map(({ notes, pid, deliverer, at }) => [notes.tag, pid, deliverer, at])
  const open = [
    ['left', undefined, process.pid, 1_003_000],
    ['abandoned', undefined, undefined, 1_002_000],
    ['running', process.pid, undefined, 1_001_000]
  ]
  t.strictSame(facts(listOpenSessions(home)), open)
  t.strictSame(facts(listSessions(home)), [...open, ['ended', undefined, undefined, 1_000_000]])
  const running = listOpenSessions(home).find(({ notes }) => notes.tag === 'running')
  t.equal(findOwned(home, process.pid), running?.path, 'the one that it runs, not the one that it delivers')
  t.equal(findOwned(home, undefined), undefined)
  t.equal(findOwned(home, 1), undefined)
  t.end()
})

t.test('messages of a session whose notes are damaged cannot be delivered', t => {
  const home = t.testdir({
    sessions: {
      'a@1-1': { 'session.json': '{', 'outbox.journal': 'x' },
      'b@1-1': { 'session.json': '{' },
      'c@1-1': { 'session.json': JSON.stringify({ ...notes, tag: 'c' }), 'outbox.journal': 'x' }
    }
  })
  t.strictSame(findDamaged(home), [join(home, 'sessions', 'a@1-1')])
  t.strictSame(
    listSessions(home).map(({ notes }) => notes.tag),
    ['c']
  )
  t.end()
})

t.test('an ended session that is resumed in vain is left as it was found', t => {
  const home = t.testdir()
  const folder = createSessionFolder(home, notes)
  folder.note({ isEnding: true, endedBy: 'itself', cursor: 4 })
  folder.retire()
  const [ended] = listSessions(home)
  const resumed = ended && reopen(ended)
  if (!ended || !resumed) throw new Error('it can be resumed')
  t.match(readNotes(resumed.path), { cursor: 4, isEnding: false, isStarting: true, endedBy: undefined })
  t.equal(reopen(ended), undefined, 'by one process only')
  resumed.note({ cursor: 5 })
  resumed.giveBack()
  t.strictSame(readdirSync(endedIn(home)), ['tag'])
  const after = readNotes(ended.path)
  t.match(after, { cursor: 4, isEnding: true, endedBy: 'itself', isStarting: undefined })
  resumed.giveBack()
  resumed.note({ cursor: 9 })
  t.strictSame(readNotes(ended.path), after, 'it is no longer of this process')

  const again = reopen(ended)
  if (!again) throw new Error('it can be resumed again')
  writeFileSync(join(again.path, 'outbox.journal'), 'x')
  again.giveBack()
  t.strictSame(readdirSync(join(home, 'sessions')), ['tag@nobody'], 'what it still has to send is delivered')
  const [open] = listSessions(home)
  const last = open && reopen(open)
  fs.rmSync(join(last?.path ?? '', 'outbox.journal'))
  last?.giveBack()
  t.strictSame(readdirSync(join(home, 'sessions')), ['tag@nobody'], 'and one that had not ended has not ended now')
  t.end()
})

t.test('that a person ended it is still known when it was resumed in vain', t => {
  const home = t.testdir()
  const folder = createSessionFolder(home, notes)
  noteEndedByPerson(folder)
  folder.retire()
  const [ended] = listSessions(home)
  const resumed = ended && reopen(ended)
  t.strictSame(readdirSync(resumed?.path ?? ''), ['session.json'])
  resumed?.giveBack()
  t.equal(readNotes(ended?.path ?? '')?.endedBy, 'person')
  t.end()
})

t.test('of an ended session what it had to send is gone, and of a removed one everything', t => {
  const home = t.testdir()
  const ended = createSessionFolder(home, notes)
  writeFileSync(join(ended.path, 'outbox.journal'), 'x')
  writeFileSync(join(ended.path, 'calls.seen'), 'x')
  ended.retire()
  ended.note({ cursor: 8 })
  t.strictSame(readdirSync(join(endedIn(home), 'tag')).toSorted(), ['calls.seen', 'session.json'])
  t.match(readNotes(join(endedIn(home), 'tag')), { cursor: 0 })
  const removed = createSessionFolder(home, { ...notes, tag: 'other' })
  removed.remove()
  removed.note({ cursor: 8 })
  t.notOk(existsSync(removed.path))
  t.strictSame(readdirSync(join(home, 'sessions')), [])
  t.end()
})

t.test('the 500 sessions that ended last can be resumed', t => {
  const home = t.testdir()
  for (let each = 0; each < 499; each++) {
    const folder = join(endedIn(home), `ended-${each}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'session.json'), '')
    utimesSync(join(folder, 'session.json'), 1000 - each, 1000 - each)
  }
  createSessionFolder(home, { ...notes, tag: 'one' }).retire()
  t.equal(readdirSync(endedIn(home)).length, 500)
  createSessionFolder(home, { ...notes, tag: 'two' }).retire()
  const names = new Set(readdirSync(endedIn(home)))
  t.same([names.size, names.has('ended-498'), names.has('ended-497'), names.has('one')], [500, false, true, true])
  t.end()
})

t.test('remains that another process wants to continue are left to it, and the wishes of dead ones are forgotten', t => {
  const left = { 'session.json': JSON.stringify(notes) }
  const home = t.testdir({ sessions: { 'tag@1-1': { ...left, 'wanted@1-0': '' } } })
  const path = join(home, 'sessions', 'tag@1-1')
  t.equal(takeOver(path), undefined)
  t.ok(existsSync(path))
  renameSync(join(path, 'wanted@1-0'), join(path, 'wanted@1-1'))
  t.strictSame(readdirSync(takeOver(path)?.path ?? ''), ['session.json'])
  t.end()
})

t.test('a message that the server never accepts stays with its reason', t => {
  const folder = createSessionFolder(t.testdir(), notes)
  const draft = { session: 's', localId: 'one', content: 'aGk=', createdAt: 1 }
  folder.setAside(draft, 'too large')
  folder.setAside({ ...draft, localId: 'two' }, 'too old')
  const file = join(folder.path, 'set-aside.jsonl')
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  t.strictSame(
    lines.map(line => JSON.parse(line)),
    [
      { ...draft, reason: 'too large' },
      { ...draft, localId: 'two', reason: 'too old' }
    ]
  )
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.end()
})

t.test('the files that an agent changed are known to a later process, whatever a crash left of the list', t => {
  const path = join(t.testdir(), 'files.edited')
  const first = openEditedFiles(path)
  first.add(['/a', '/a', '/b\nc'])
  const { size } = statSync(path)
  first.add(['/a'])
  t.equal(statSync(path).size, size, 'a known one is not written again')
  writeFileSync(path, '\n3\n"/tor', { flag: 'a' })
  openEditedFiles(path).add(['/d'])
  t.strictSame([...openEditedFiles(path).paths], ['/a', '/b\nc', '/d'])
  t.strictSame([...first.paths], ['/a', '/b\nc'])
  t.end()
})

t.test('on a full disk notes wait, and are written as soon as there is space', async t => {
  const home = t.testdir()
  const folder = createSessionFolder(home, notes)
  const [name = ''] = readdirSync(join(home, 'sessions'))
  const onDisk = () => readNotes(join(home, 'sessions', name))
  const heard: unknown[] = []
  folder.onWaiting(why => heard.push(why))
  const makeRoom = fillDisk()
  t.teardown(makeRoom)
  folder.note({ cursor: 1 })
  t.match(heard, [{ code: 'ENOSPC' }])
  folder.note({ cursor: 2, turn: 'a turn' })
  t.match([folder.notes, onDisk()], [{ cursor: 2, turn: 'a turn' }, { cursor: 0 }])
  makeRoom()
  await folder.noted()
  t.match(onDisk(), { cursor: 2, turn: 'a turn' })
  t.equal(heard.at(-1), undefined)
  folder.note({ cursor: 3 })
  t.match(onDisk(), { cursor: 3 })
})

/** For what is written at once; returns how to make room again. */
function fillDisk(): () => void {
  const { writeFileSync } = fs
  fs.writeFileSync = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  syncBuiltinESMExports()
  return () => {
    fs.writeFileSync = writeFileSync
    syncBuiltinESMExports()
  }
}
