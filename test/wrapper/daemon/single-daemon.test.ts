import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { claimDaemon, type DaemonNotes, findDaemon } from '../../../lib/wrapper/daemon/single-daemon.ts'
import { nameOf, ownName } from '../../../lib/wrapper/home/processes.ts'

const notes: DaemonNotes = { pid: 7, server: 'https://home.example', version: '1.0.0', startedAt: 5, link: 'starting' }

t.test('a daemon says what it is, until it leaves', async t => {
  const home = t.testdir()
  t.equal(findDaemon(home), undefined)
  const daemon = claimDaemon(home, notes)
  t.strictSame([daemon.notes, findDaemon(home)], [notes, notes])
  daemon.note({ link: 'live' })
  const now = { ...notes, link: 'live' }
  t.strictSame([daemon.notes, findDaemon(home)], [now, now])
  daemon.leave()
  t.equal(findDaemon(home), undefined)
  daemon.leave()
  t.strictSame(readdirSync(join(home, 'daemon')), [])
})

t.test('an earlier daemon stays, and a later one gives way', { skip: process.platform === 'win32' }, async t => {
  const home = t.testdir({ daemon: {} })
  const parent = nameOf(process.ppid)
  const claimOf = (name: string) => join(home, 'daemon', `daemon@${name}.json`)
  writeFileSync(claimOf(String(parent)), JSON.stringify({ ...notes, pid: process.ppid }))
  const running = { name: 'CannotStart', message: `The daemon is already running, as process ${process.ppid}.` }
  t.throws(() => claimDaemon(home, notes), running)
  t.notOk(existsSync(claimOf(ownName())), 'it does not wait for its turn')
  t.match(findDaemon(home), { pid: process.ppid })
})

t.test('what dead daemons left is removed, and other files do not count', async t => {
  const home = t.testdir()
  const folder = join(home, 'daemon')
  mkdirSync(folder)
  const text = JSON.stringify(notes)
  const others = [`daemon@${ownName()}.log`, `other@${ownName()}.json`]
  for (const name of ['daemon@999999999-1.json', ...others]) writeFileSync(join(folder, name), text)
  t.equal(findDaemon(home), undefined)
  t.strictSame(readdirSync(folder).sort(), others)
  writeFileSync(join(folder, `daemon@${ownName()}.json`), '{"pid":7}')
  t.equal(findDaemon(home), undefined, 'one that another version wrote')
  writeFileSync(join(folder, 'daemon@999999998-1.json'), text)
  claimDaemon(home, notes)
  t.strictSame(findDaemon(home), notes, 'a dead one is not in the way')
})
