import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeBackup } from '../../lib/backup/make.ts'
import { restoreBackup } from '../../lib/backup/restore.ts'
import { openHome } from '../../lib/wrapper/home/credentials.ts'
import { listSessions } from '../../lib/wrapper/home/session-folder.ts'
import { recoverSessions } from '../../lib/wrapper/session/recovery.ts'
import { fetch } from '../../lib/wrapper/uplink/network.ts'
import { call } from '../kit/person.ts'
import { startServer, startServerProcess } from '../kit/server.ts'
import { openTcpProxy } from '../kit/tcp-proxy.ts'
import { demo, texts, turnsEnded } from './kit/demo.ts'
import { startPhone } from './kit/phone.ts'
import { linkedComputer } from './kit/world.ts'
import { runWrapper } from './kit/wrapper.ts'

/** A server of which there is a backup from before the computer's first session, and a way to put it back to that. */
async function backedUp(t: Test) {
  const place = t.testdir()
  const data = join(place, 'data')
  const file = join(place, 'early.backup')
  let server = await startServerProcess(t, { data })
  const port = Number(new URL(server.url).port)
  const options = { data, store: `sqlite:${join(data, 'afield.db')}` }
  const { phone, home } = await linkedComputer(t, server)
  await makeBackup({ options, target: file, passphrase: undefined, now: Date.now(), tell() {} })
  return {
    server,
    phone,
    home,
    stop: () => server.kill(),
    async putBack() {
      await restoreBackup({ options, file, passphrase: async () => '', force: true, now: Date.now(), tell() {} })
      server = await startServerProcess(t, { data, port })
    }
  }
}

t.test('a session unknown to a restored server continues there, with all pending and new messages', async t => {
  const { server, phone, home, stop, putBack } = await backedUp(t)
  const wrapper = runWrapper(t, { home, args: ['demo'] })
  const before = await phone.session()
  for (const text of ['one', 'two']) await before.say(`SCRIPT: text ${text}`)
  await before.until(session => turnsEnded(session) === 2)
  await before.say('SCRIPT: slow 1000 a b c ;; text late')
  await before.until(({ partials }) => partials.length > 0)
  before.close()
  await stop()
  await putBack()

  const after = await (await startPhone(t, server, phone.secret)).session()
  t.not(after.id, before.id)
  await after.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(after).slice(-1), ['late'])
  await after.say('SCRIPT: text three')
  await after.until(session => turnsEnded(session) === 2)
  t.strictSame(texts(after).slice(-1), ['three'])
  await wrapper.kill('SIGTERM')
  t.match(listSessions(home), [{ pid: undefined, notes: { id: after.id } }])
})

t.test('pending messages of an ended session reach a restored server that does not know the session', async t => {
  const { server, phone, home, stop, putBack } = await backedUp(t)
  const wrapper = runWrapper(t, { home, args: ['demo'] })
  const before = await phone.session()
  await before.say('SCRIPT: slow 1000 a b c ;; text late')
  await before.until(({ partials }) => partials.length > 0)
  before.close()
  await stop()
  await wrapper.says(/offline/)
  await wrapper.kill()
  await putBack()
  t.match(await recoverSessions({ home: openHome({ AFIELD_HOME: home }), fetch, withinMs: 20_000 }), { found: 1, delivered: 1 })
  const after = await (await startPhone(t, server, phone.secret)).session()
  await after.until(session => turnsEnded(session) === 1)
})

t.test('a session that was deleted leaves nothing behind', async t => {
  const { server, phone, wrapper, session, home } = await demo(t, ['SCRIPT: slow 1500 a b c'])
  await session.until(({ partials }) => partials.length > 0)
  session.close()
  await call(server, 'DELETE', `/v1/sessions/${session.id}`, { token: phone.token })
  t.equal(await wrapper.ended, 0)
  t.strictSame(listSessions(home), [])
  t.strictSame(await phone.sessions(), [])
})

t.test('leftovers of a session deleted meanwhile do not recreate it, and are removed', async t => {
  const { server, phone, wrapper, session, home } = await demo(t, ['SCRIPT: slow 1500 a b c'])
  await session.until(({ partials }) => partials.length > 0)
  session.close()
  await wrapper.kill()
  await call(server, 'DELETE', `/v1/sessions/${session.id}`, { token: phone.token })
  await recoverSessions({ home: openHome({ AFIELD_HOME: home }), fetch, withinMs: 20_000 })
  t.strictSame(await phone.sessions(), [])
  t.strictSame(listSessions(home), [])
})

t.test('a session deleted after its end is not resumed, and its person is told why', async t => {
  const { server, phone, wrapper, session, home } = await demo(t)
  await session.say('SCRIPT: text one')
  await session.until(session => turnsEnded(session) === 1)
  await wrapper.kill('SIGTERM')
  session.close()
  await call(server, 'DELETE', `/v1/sessions/${session.id}`, { token: phone.token })
  const resumed = runWrapper(t, { home, args: ['resume', session.id] })
  t.not(await resumed.ended, 0)
  t.match(resumed.output, /This session was deleted and cannot be resumed\. Start a new session instead\./)
  t.strictSame(await phone.sessions(), [])
  t.strictSame(listSessions(home), [])
})

t.test('a session deleted after its end, and resumed while no server answers, ends once one does', async t => {
  const server = await startServer(t)
  const line = await openTcpProxy(t, server.url)
  const { phone, home } = await linkedComputer(t, { url: line.url })
  const first = runWrapper(t, { home, args: ['demo', 'SCRIPT: text one'] })
  const direct = await startPhone(t, server, phone.secret)
  const session = await direct.session()
  await session.until(session => turnsEnded(session) === 1)
  await first.kill('SIGTERM')
  session.close()
  await line.closePort()
  await call(server, 'DELETE', `/v1/sessions/${session.id}`, { token: phone.token })
  const resumed = runWrapper(t, { home, args: ['resume', session.id] })
  await resumed.says(/offline/)
  await line.openPort()
  t.equal(await resumed.ended, 0)
  t.match(resumed.output, /deleted on another device/)
  t.strictSame(await direct.sessions(), [])
})

t.test('an ended session unknown to a restored server is resumed there, and gets its messages', async t => {
  const { server, phone, home, stop, putBack } = await backedUp(t)
  const wrapper = runWrapper(t, { home, args: ['demo'] })
  const before = await phone.session()
  for (const text of ['one', 'two']) await before.say(`SCRIPT: text ${text}`)
  await before.until(session => turnsEnded(session) === 2)
  await wrapper.kill('SIGTERM')
  before.close()
  await stop()
  await putBack()
  runWrapper(t, { home, args: ['resume', before.id] })
  const again = await (await startPhone(t, server, phone.secret)).session()
  await again.say('SCRIPT: text three')
  await again.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(again), ['three'])
})

t.test('a computer announces its daemon and features to a restored server', async t => {
  const { server, phone, home, stop, putBack } = await backedUp(t)
  const daemon = runWrapper(t, { home, args: ['daemon', 'run'] })
  await daemon.says(/ live\n/)
  const before = await phone.machine()
  await before.until(async () => (await before.state())?.status === 'running' && (await before.metadata())?.methods !== undefined)
  await stop()
  await putBack()
  const after = await (await startPhone(t, server, phone.secret)).machine()
  t.equal(after.id, before.id)
  await after.until(async () => (await after.state())?.status === 'running' && (await after.metadata())?.methods !== undefined)
})
