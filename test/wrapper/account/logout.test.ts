import t from 'tap'
import type { Server } from '../../../lib/server/create.ts'
import { logout } from '../../../lib/wrapper/account/logout.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { createSessionFolder, listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import { drawSessions, numbered } from '../../../lib/wrapper/terminal/session-list.ts'
import { styleFor } from '../../../lib/wrapper/terminal/style.ts'
import { call, type Untyped } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import type { Phone } from '../kit/phone.ts'
import { linkedComputer } from '../kit/world.ts'

t.test('logging out while sessions run asks first, and changes nothing without a yes', async t => {
  const server = await startServer(t)
  const { home: path } = await linkedComputer(t, server)
  const home = openHome({ AFIELD_HOME: path })
  const folder = createSessionFolder(path, {
    tag: 'one',
    server: server.url,
    key: null,
    metadata: { path: '/code', host: 'here' },
    cursor: 0,
    turn: null
  })
  const said: string[] = []
  const leave = (answer: string | undefined) => {
    const ask = async (question: string) => {
      said.push(question)
      return answer
    }
    const terminal = { isTTY: true, columns: 80, rows: 24, write: (text: string) => void said.push(text), onResize: () => () => {}, ask }
    return logout({ home, server: server.url, env: {}, terminal })
  }
  t.equal(await leave(''), 1)
  t.match(said.join(''), /A session is still running here.*Unlink anyway\? \[y\/N\] Nothing was changed/s)
  t.ok(home.credentials(server.url))
  t.equal(await leave('y'), 0)
  t.equal(home.credentials(server.url), undefined)
  folder.remove()
})

t.test('logging out deletes the local keys, and fails if the server may still know the computer', async t => {
  const quiet = { isTTY: false, columns: 80, rows: 24, write() {}, onResize: () => () => {}, ask: async () => undefined }
  const leave = async (prepare: (linked: { server: Server; phone: Phone }) => unknown) => {
    const server = await startServer(t, { data: t.testdir() })
    const { home: path, phone } = await linkedComputer(t, server)
    const home = openHome({ AFIELD_HOME: path })
    await prepare({ server, phone })
    const left = await logout({ home, server: server.url, env: {}, terminal: quiet }).catch(error => error)
    t.equal(home.credentials(server.url), undefined)
    return left
  }
  t.equal(await leave(() => {}), 0)
  t.match(await leave(({ server }) => server.close()), { exitCode: 1, message: /could not be notified\. Remove this computer in the app/ })
  const ended = await leave(async ({ server, phone }) => {
    const { body } = await call(server, 'GET', '/v1/devices', { token: phone.token })
    const other = body.devices.find((device: Untyped) => !device.current)
    await call(server, 'DELETE', `/v1/devices/${other.id}`, { token: phone.token })
  })
  t.equal(ended, 0, 'whose sign-in was ended before')
})

t.test('logging out when nothing is linked says so, and not how to name a server', async t => {
  const said: string[] = []
  const terminal = {
    isTTY: false,
    columns: 80,
    rows: 24,
    write: (text: string) => void said.push(text),
    onResize: () => () => {},
    ask: async () => undefined
  }
  const home = openHome({ AFIELD_HOME: t.testdir() })
  const failure = { message: 'This computer is not linked to an account.', exitCode: 1 }
  await t.rejects(logout({ home, server: undefined, env: {}, terminal }), failure)
  t.strictSame(said, [])
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
