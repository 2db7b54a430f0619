import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { signUp } from '../../kit/person.ts'
import { startServer, startServerProcess } from '../../kit/server.ts'
import { openTcp } from '../raw-http.ts'

const mib = 1024 * 1024

/** Asks, and reads nothing but the first bytes of the answer. */
async function askAndStall(t: Test, server: { port: number }, token: string, path: string) {
  const socket = await openTcp(t, server)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  const [first] = await once(socket, 'data')
  socket.pause()
  return { socket, status: Number(String(first).split(' ')[1]) }
}

async function fillSession(ada: Awaited<ReturnType<typeof signUp>>) {
  const session = await ada.openSession()
  for (const localId of ['a', 'b', 'c', 'd']) await ada.send(session, { localId, content: 'x'.repeat(4 * mib) })
  return `/v3/sessions/${session}/messages`
}

t.test('a large answer that is read slowly comes whole, and one that is abandoned holds nothing [B6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const path = await fillSession(ada)
  // Together these are more than answers that nobody reads may hold.
  for (let round = 0; round < 20; round++) {
    const { socket, status } = await askAndStall(t, server, ada.token, path)
    if (status !== 200) t.equal(status, 200, `round ${round}`)
    const closed = once(socket, 'close')
    socket.resetAndDestroy()
    await closed
  }
  const { status, body } = await ada.call('GET', path)
  t.equal(status, 200)
  t.same(
    body.messages.map((message: { content: { c: string } }) => message.content.c.length),
    [4 * mib, 4 * mib, 4 * mib, 4 * mib]
  )
})

t.test('however many do not read their answers, the server holds so much of them and no more [B6]', async t => {
  const data = t.testdir()
  const server = await startServerProcess(t, { data })
  const port = Number(new URL(server.url).port)
  const ada = await signUp(t, server)
  const path = await fillSession(ada)
  await ada.call('GET', path)
  const before = residentMib(server.child.pid)
  const statuses: number[] = []
  for (let reader = 0; reader < 22; reader++) statuses.push((await askAndStall(t, { port }, ada.token, path)).status)
  const held = residentMib(server.child.pid) - before
  t.ok(statuses.includes(200))
  t.ok(statuses.includes(503), 'those beyond are asked to come again')
  t.ok(held < 450, `${Math.round(held)} MiB for 22 readers of 16 MiB`)
})

function residentMib(pid: number | undefined): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
  return (Number(pages) * 4096) / mib
}
