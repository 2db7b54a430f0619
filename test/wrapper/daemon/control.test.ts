import { join } from 'node:path'
import t from 'tap'
import { CannotStart } from '../../../lib/exit.ts'
import { hasLocalSockets } from '../../../lib/local-socket/address.ts'
import { askDaemon, openDaemonControl } from '../../../lib/wrapper/daemon/control.ts'

const skip = !hasLocalSockets && 'no such sockets here'
const notes = { pid: 7, server: 'https://home.example', version: '1.2.3', startedAt: 1, link: 'live' }
const answers = { status: () => notes, list: () => [], stop: () => ({}) }

/** Of a daemon with these answers, and what its log says. */
async function controlled(home: string, changes: Partial<Parameters<typeof openDaemonControl>[1]> = {}) {
  const log: string[] = []
  const control = await openDaemonControl(home, { ...answers, ...changes }, line => log.push(line))
  return { control, log }
}

t.test('the daemon answers the commands of its owner, and where none listens there is no answer', { skip }, async t => {
  const home = t.testdir({ daemon: {} })
  t.equal(await askDaemon(home, 'status'), undefined)
  let wasAnswered: Promise<void> | undefined
  const stop = (answered: Promise<void>) => {
    wasAnswered = answered
    return {}
  }
  const { control, log } = await controlled(home, { list: () => [{ pid: 8, folder: '/code' }], stop })
  t.strictSame(await askDaemon(home, 'status'), notes)
  t.strictSame(await askDaemon(home, 'list'), [{ pid: 8, folder: '/code' }])
  t.strictSame(await askDaemon(home, 'stop'), {})
  t.equal(await wasAnswered, undefined)
  await t.rejects(askDaemon(home, 'start' as never), {
    message: 'The daemon does not know this command; its version may differ from this program.',
    exitCode: 78
  })
  await control?.close()
  t.equal(await askDaemon(home, 'status'), undefined)
  t.strictSame(log, [])
})

t.test('why a command failed is told as it is meant for a person; anything else is in the log only', { skip }, async t => {
  const home = t.testdir({ daemon: {} })
  const thrown: unknown[] = [new CannotStart('It is busy.', 9), new Error('a secret path'), 'odd']
  const { control, log } = await controlled(home, {
    status: () => {
      throw thrown.shift()
    }
  })
  t.teardown(() => control?.close())
  const unexpected = { message: 'The daemon hit an unexpected error; see its log.', exitCode: 70 }
  await t.rejects(askDaemon(home, 'status'), { message: 'It is busy.', exitCode: 9 })
  await t.rejects(askDaemon(home, 'status'), unexpected)
  await t.rejects(askDaemon(home, 'status'), unexpected)
  t.strictSame(log, ['control socket: a secret path', 'control socket: odd'])
})

t.test('a daemon of another version is to be restarted', { skip }, async t => {
  const home = t.testdir({ daemon: {} })
  const { control } = await controlled(home, { status: () => ({ ...notes, pid: 'seven' }) as never })
  t.teardown(() => control?.close())
  await t.rejects(askDaemon(home, 'status'), { message: 'The version of the daemon differs from this program; restart it.' })
})

t.test('a daemon that cannot have its socket runs without, and says why', { skip }, async t => {
  const own = t.testdir({ without: { daemon: '' }, other: { daemon: {} } })
  const none = await controlled(join(own, 'without'))
  t.equal(none.control, undefined)
  t.match(none.log, [/^control socket: ENOTDIR/])

  const other = join(own, 'other')
  const { control } = await controlled(other)
  t.teardown(() => control?.close())
  const second = await controlled(other)
  t.equal(second.control, undefined)
  t.strictSame(second.log, [`control socket: Another process listens at ${join(other, 'daemon', 'control.sock')}.`])
})
