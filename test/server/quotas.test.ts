import { once } from 'node:events'
import t from 'tap'
import type { Quotas } from '../../lib/store/quotas.ts'
import { signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'

const limitedTo = (quotas: Partial<Quotas>) => ({ policy: { quotas: () => quotas } })

t.test('quotas set by an embedder apply to everything that clients create [Q2]', async t => {
  const server = await startServer(t, limitedTo({ machines: 1, artifacts: 1, bytes: 8 }))
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const machine = (id: string) => ada.call('POST', '/v1/machines', { body: { id, metadata: 'bQ==' } })
  t.same([(await machine('one')).status, (await machine('two')).status, (await machine('one')).status], [200, 507, 200])

  const artifact = (end: number, body: string) =>
    ada.call('POST', '/v1/artifacts', {
      body: { id: `0199c3ae-5a6a-4b44-9a7e-3a4cf09eb1a${end}`, header: 'aA==', body, dataEncryptionKey: 'aw==' }
    })
  t.same(
    [(await artifact(1, 'b'.repeat(8))).status, (await artifact(1, 'Yg==')).status, (await artifact(2, 'Yg==')).status],
    [507, 200, 507]
  )

  const place = (size: number) =>
    ada.call('POST', `/v1/sessions/${session}/attachments/request-upload`, { body: { filename: 'a.png', size } })
  t.equal((await place(1)).status, 507)
  t.match(await ada.send(session, { localId: '1' }), { status: 507 })
})

t.test('a sign-in above the limit removes the least recently used device, and closes its connections [Q2, A4]', async t => {
  const server = await startServer(t, limitedTo({ devices: 2 }))
  const phone = await signUp(t, server)
  const socket = await phone.connect()
  const closed = once(socket as never, 'disconnect')
  const laptop = await signUp(t, server, phone.secret)
  const tablet = await signUp(t, server, phone.secret)
  t.equal((await tablet.call('GET', '/v1/sessions')).status, 200)
  t.equal((await laptop.call('GET', '/v1/sessions')).status, 200)
  await closed
  t.equal((await phone.call('GET', '/v1/sessions')).status, 401)
})
