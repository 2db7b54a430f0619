import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Server } from '../../../lib/server/create.ts'
import { logout } from '../../../lib/wrapper/account/logout.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { nameOf, ownName } from '../../../lib/wrapper/home/processes.ts'
import { createSessionFolder, listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import { drawSessions, numbered } from '../../../lib/wrapper/terminal/session-list.ts'
import { styleFor } from '../../../lib/wrapper/terminal/style.ts'
import { call, type Untyped } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { asking } from '../kit/asking.ts'
import { computerWithSession, leaveBehind } from '../kit/left-behind.ts'
import type { Phone } from '../kit/phone.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

const noSignals = { skip: process.platform === 'win32' && 'no signals' }

t.test('logging out deletes the local keys, and fails if the server may still know the computer', async t => {
  const leave = async (prepare: (linked: { server: Server; phone: Phone }) => unknown) => {
    const server = await startServer(t)
    const { home: path, phone } = await linkedComputer(t, server)
    const home = openHome({ AFIELD_HOME: path })
    await prepare({ server, phone })
    const left = await logout({ home, server: server.url, env: {}, terminal: asking([]).terminal, isSure: false }).catch(error => error)
    t.equal(home.credentials(server.url), undefined)
    return left
  }
  t.equal(await leave(() => {}), 0)
  t.match(await leave(({ server }) => server.close()), { exitCode: 1, message: /could not be notified\. Unlink this computer in the app/ })
  const ended = await leave(async ({ server, phone }) => {
    const { body } = await call(server, 'GET', '/v1/devices', { token: phone.token })
    const other = body.devices.find((device: Untyped) => !device.current)
    await call(server, 'DELETE', `/v1/devices/${other.id}`, { token: phone.token })
  })
  t.equal(ended, 0, 'whose sign-in was ended before')
})

t.test(
  'after logging out, a daemon that would still start is named',
  { skip: process.platform !== 'linux' && 'systemd is of Linux' },
  async t => {
    const server = await startServer(t)
    const { home: path } = await linkedComputer(t, server)
    const config = join(path, '..', 'config')
    mkdirSync(join(config, 'systemd', 'user'), { recursive: true })
    writeFileSync(join(config, 'systemd', 'user', 'afield.service'), `ExecStart=afield daemon run --server ${server.url}\n`)
    const { terminal, shown } = asking([])
    const home = openHome({ AFIELD_HOME: path })
    t.equal(await logout({ home, server: server.url, env: { XDG_CONFIG_HOME: config }, terminal, isSure: true }), 0)
    t.equal(
      shown().replaceAll(/\s+/g, ' ').trim(),
      `This computer is no longer linked to your account on ${server.url}; its keys were deleted here. Its daemon would still start when you sign in. Undo that with: ${typed('daemon uninstall')}`
    )
  }
)

t.test('a computer that is linked elsewhere is not logged out of another server', async t => {
  const home = openHome({ AFIELD_HOME: t.testdir() })
  const keys = { version: 1 as const, secret: new Uint8Array(32) }
  home.saveCredentials({ server: 'https://home.example', token: 'a', keys })
  const { terminal, shown } = asking([])
  const leave = (server: string | undefined, env = {}) => logout({ home, server, env, terminal, isSure: true })
  const failure = { message: 'This computer is not linked to an account on https://other.example.', exitCode: 1 }
  await t.rejects(leave('other.example'), failure)
  await t.rejects(leave(undefined, { AFIELD_SERVER: 'https://other.example' }), failure)
  home.rememberServer('https://other.example')
  await t.rejects(leave(undefined), failure)
  t.ok(home.credentials('https://home.example'))
  t.equal(shown(), '')
})

t.test('what a killed session has not told is delivered first, or stays here', async t => {
  const { server, home: path, folder } = await computerWithSession(t)
  const home = openHome({ AFIELD_HOME: path })
  folder.note({ sentUpTo: { file: path, offset: 0 } })
  await leaveBehind(path, folder, 'of one whose transcript is a folder')
  const { terminal, shown } = asking([])
  t.equal(await logout({ home, server: server.url, env: {}, terminal, isSure: true }), 0)
  t.equal(
    shown().replaceAll(/\s+/g, ' ').trim(),
    `Some messages could not be delivered; they stay in ${path}. This computer is no longer linked to your account on ${server.url}; its keys were deleted here.`
  )
})

t.test('sessions that run here end with the link, and only if the person agrees', noSignals, async t => {
  const server = await startServer(t)
  const { home: path } = await linkedComputer(t, server)
  const home = openHome({ AFIELD_HOME: path })
  const start = (tag: string, of = server.url) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    t.teardown(() => child.kill('SIGKILL'))
    createSessionFolder(path, { tag, server: of, key: null, metadata: { path, host: 'here' }, cursor: 0, turn: null })
    const folder = (owner: string | undefined) => join(path, 'sessions', `${tag}@${owner}`)
    renameSync(folder(ownName()), folder(nameOf(child.pid ?? 0)))
    return { child, ended: once(child, 'exit') }
  }
  const leave = async (answer: string | undefined) => {
    const { terminal, shown } = asking([answer])
    const left = await logout({ home, server: server.url, env: { NO_COLOR: '1' }, terminal, isSure: false }).catch(error => error)
    return { left, shown: shown() }
  }
  const elsewhere = start('elsewhere', 'https://other.example')
  const one = start('one')
  const no = await leave('')
  t.equal(no.left, 1)
  t.match(no.shown, /^A session is still running here, and logging out ends it:\n +1 {2}No messages yet\n[\s\S]*\nEnd it and unlink/)
  t.ok(no.shown.endsWith('\nEnd it and unlink this computer? [y/N] Nothing was changed.\n'))
  const nobody = await leave(undefined)
  t.match(nobody.left, { exitCode: 1 })
  t.equal(
    nobody.left.message,
    `Nothing was changed. To end it and unlink this computer, run:\n  ${typed(`logout --server ${server.url} --yes`)}`
  )
  t.ok(home.credentials(server.url))
  t.strictSame([one.child.exitCode, one.child.signalCode], [null, null], 'it still runs')
  const two = start('two')
  const yes = await leave(' Yes ')
  t.equal(yes.left, 0)
  t.match(yes.shown, /^2 sessions are still running here, and logging out ends them:\n[\s\S]*End them and unlink this computer\? /)
  await Promise.all([one.ended, two.ended])
  t.strictSame([elsewhere.child.exitCode, elsewhere.child.signalCode], [null, null], 'that of another server goes on')
})

t.test('logging out when nothing is linked says so, and not how to name a server', async t => {
  const { terminal, shown } = asking([])
  const home = openHome({ AFIELD_HOME: t.testdir() })
  const failure = { message: 'This computer is not linked to an account.', exitCode: 1 }
  await t.rejects(logout({ home, server: undefined, env: {}, terminal, isSure: false }), failure)
  t.equal(shown(), '')
})

t.test('a session without a title is listed by its first message', async t => {
  const home = t.testdir()
  const notes = { tag: 'one', server: 'http://x', key: null, metadata: { path: '/code', host: 'here' }, cursor: 0, turn: null }
  const folder = createSessionFolder(home, notes)
  const first = () => drawSessions(numbered(listSessions(home)), Date.now(), styleFor({ isTTY: false }, {}), 80)[0]
  t.match(first(), /1 {2}No messages yet/)
  folder.note({ firstPrompt: '## Mend the **gate**\nof the orchard' })
  t.match(first(), /1 {2}Mend the gate$/)
  folder.note({ metadata: { ...notes.metadata, summary: { text: 'The gate', updatedAt: 0 } } })
  t.match(first(), /1 {2}The gate/)
})

t.test('logging out ends the sessions and the daemon, and the phone sees them ended and the computer gone', async t => {
  const { url } = await startServer(t)
  const { home, phone } = await linkedComputer(t, { url })
  const session = runWrapper(t, { home, args: ['demo'], directory: t.testdir() })
  await phone.session()
  await session.says(/This session is on your phone too|live/)
  const daemon = runWrapper(t, { home, args: ['daemon', 'run'] })
  await daemon.says(/ live\n/)
  const left = runWrapper(t, { home, args: ['logout', '--yes'] })
  t.equal(await left.ended, 0, left.output)
  t.match(left.output, /logging out ends it:.*Demo agent in .*is no longer linked/s)
  t.equal(await session.ended, 0, 'not killed: it told the server')
  t.match(
    session.output,
    new RegExp(`This computer is logged out\\. To resume it, log in first:\n  .* login --server ${url}\n  .* resume `)
  )
  t.equal(await daemon.ended, 0)
  const [seen, ...others] = await phone.sessions()
  t.match(seen, { active: false, metadata: { lifecycleState: 'archived' } })
  t.strictSame(others, [])
  const get = async (path: string) => (await call({ url }, 'GET', path, { token: phone.token })).body
  t.strictSame(await get('/v1/machines'), [])
  t.equal((await get('/v1/devices')).devices.length, 1, 'the phone')
})
