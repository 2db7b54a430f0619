import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../../../lib/store/open.ts'
import type { Store } from '../../../../lib/store/store.ts'
import { call, Person, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

// A database that many servers share may undo a transaction and run it again, with all that it calls.
const twice =
  <Given extends unknown[], Made>(make: (...given: Given) => Made) =>
  (...given: Given): Made => {
    make(...given)
    return make(...given)
  }

t.test('a client let in by a transaction that ran twice gets the stored token, and is announced once', async t => {
  const data = t.testdir()
  const whole = await openStore('sqlite:afield.db', { dataDirectory: join(data, 'store'), onBroken: reason => t.error(reason) })
  t.teardown(() => whole.close())
  const store: Store = {
    ...whole,
    signIn: ask => whole.signIn({ ...ask, token: twice(ask.token) }),
    pollPairing: ask => whole.pollPairing({ ...ask, token: twice(ask.token) })
  }
  const told: string[] = []
  const server = await startServer(t, { store, onAudit: ({ type }) => told.push(type) })
  const ada = await signUp(t, server)
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200)

  const publicKey = randomBytes(32).toString('base64')
  const poll = () => call(server, 'POST', '/v1/auth/request', { body: { publicKey } })
  await poll()
  await ada.call('POST', '/v1/auth/response', { body: { publicKey, response: 'c2VhbGVk' } })
  const paired = new Person(t, server, ada.secret, (await poll()).body.token)
  t.equal((await paired.call('GET', '/v1/sessions')).status, 200)
  t.same(told, ['account-created', 'signed-in', 'pairing-approved', 'device-paired'])
})
