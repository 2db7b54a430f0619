import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { createSessionFolder, findLeftovers, readNotes, takeOver } from '../../../lib/wrapper/home/session-folder.ts'

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
