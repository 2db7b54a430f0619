import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newLog, opened } from '../../../../lib/wrapper/daemon/launch/launch.ts'
import { createSessionFolder } from '../../../../lib/wrapper/home/session-folder.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

t.test('a session counts as running only when its process says so, whatever an earlier one recorded', async t => {
  const home = t.testdir()
  const clock = manualClock()
  const metadata = { path: '/p', host: 'h', hostPid: 1 }
  const notes = { tag: 'one', id: 's1', server: 's', key: null, metadata, cursor: 0, turn: null, isStarting: false }
  const folder = createSessionFolder(home, notes)
  let isOpen = false
  const opening = opened(home, process.pid, new AbortController().signal, { clock }).then(id => {
    isOpen = true
    return id
  })
  await new Promise(resolve => setImmediate(resolve))
  t.equal(isOpen, false)
  folder.note({ metadata: { ...metadata, hostPid: process.pid } })
  t.equal(await opening, 's1')
  t.equal(clock.now(), 0, 'at once')
  t.equal(clock.pending, 0)
})

t.test('the logs of sessions that wrote nothing for a month are removed when another starts', async t => {
  const home = t.testdir({})
  for (const [tag, days] of [
    ['old', 31],
    ['recent', 29]
  ] as const) {
    const log = newLog(home, tag)
    const written = Date.now() / 1000 - days * 24 * 60 * 60
    writeFileSync(log, '')
    utimesSync(log, written, written)
  }
  t.equal(newLog(home, 'new'), join(home, 'logs', 'new.log'))
  t.same(readdirSync(join(home, 'logs')), ['recent.log'])
})
