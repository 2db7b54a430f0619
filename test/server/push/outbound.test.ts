import t from 'tap'
import { NotAllowed, type Outbound, openWithFirstRequest, readTarget } from '../../../lib/server/push/outbound.ts'
import { keptOutbound, never } from './outgoing.ts'

t.test('only plain web addresses are targets, and a rejection does not contain the address [P5]', async t => {
  for (const text of ['https://one.example/x?y', 'http://127.0.0.1:80']) t.equal(readTarget(text).href, new URL(text).href)
  for (const text of ['', 'one.example', 'ftp://one.example', 'file:///etc/passwd', '//one.example'])
    t.throws(() => readTarget(text), new NotAllowed('That is no web address.'), text)
  for (const text of ['https://user@one.example', 'https://:secret@one.example', 'https://user:secret@one.example'])
    t.throws(() => readTarget(text), new NotAllowed('An address must not carry a password.'), text)
  t.equal(new NotAllowed('x').name, 'NotAllowed')
})

t.test('the client for requests is opened by the first one, once, and closed if it was opened', async t => {
  const happened: string[] = []
  const { outbound, asked } = keptOutbound(204)
  const open = async (): Promise<Outbound> => {
    happened.push('open')
    return {
      ...outbound,
      async close() {
        happened.push('close')
      }
    }
  }
  await openWithFirstRequest(open).close()
  t.same(happened, [])
  const opened = openWithFirstRequest(open)
  const ask = { url: 'https://one.example', headers: { a: 'b' } }
  t.match(await Promise.all([opened.send({ ...ask, signal: never }), opened.send({ ...ask, signal: never })]), [
    { status: 204 },
    { status: 204 }
  ])
  t.same(asked, [ask, ask])
  await opened.close()
  t.same(happened, ['open', 'close'])
})
