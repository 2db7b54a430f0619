import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createSessionFolder, listSessions } from '../../lib/wrapper/home/session-folder.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

function sessionIn(home: string, tag: string) {
  const metadata = { path: home, host: 'here', name: tag }
  const program = { kind: 'demo' as const }
  return createSessionFolder(home, { tag, id: `id-of-${tag}`, server: 'http://x', key: null, metadata, cursor: 0, turn: null, program })
}

t.test('sessions are resumed by the numbers that `sessions` prints', async t => {
  const home = t.testdir()
  for (const tag of ['oldest', 'older', 'ended']) sessionIn(home, tag).retire()
  const running = sessionIn(home, 'running')
  t.teardown(() => running.remove())
  const tags = ['running', 'ended', 'older', 'oldest']
  for (const { path, notes } of listSessions(home))
    for (const file of readdirSync(path)) utimesSync(join(path, file), 1_700_000_000, 1_700_000_000 - tags.indexOf(notes.tag))

  const told = runWrapper(t, { home, args: ['sessions', '--json'] })
  t.equal(await told.ended, 0)
  const all: unknown = JSON.parse(told.output)
  t.match(
    all,
    tags.map((tag, index) => ({ number: index + 1, id: `id-of-${tag}`, title: tag, isRunning: tag === 'running' }))
  )
  const listed = runWrapper(t, { home, args: ['sessions', 'old'] })
  t.equal(await listed.ended, 0)
  t.match(listed.output, / {2}3 {2}older\n.*\n {5}id-of-older\n {2}4 {2}oldest\n/)

  const busy = runWrapper(t, { home, args: ['resume', '1'] })
  t.equal(await busy.ended, 78)
  t.match(busy.output, /Session 1 is still running/)
  const unknown = runWrapper(t, { home, args: ['resume', '77'] })
  t.equal(await unknown.ended, 78)
  t.match(unknown.output, /No session has the number 77\. See them with:\n {2}\S/)
  const picking = runOnTerminal(t, { home, directory: home, args: ['resume'] })
  await picking.sees(/2 {2}ended[\s\S]*3 {2}older[\s\S]*4 {2}oldest[\s\S]*Which one\? 2 to 4/)
  picking.type('1\r')
  await picking.sees(/There is no number 1 in the list\./)
})
