import t from 'tap'
import { type AppState, createSocketSignIn } from '../../../lib/client/link/socket-sign-in.ts'

t.test('a connection says what it is for, and how the app is used at that time', async t => {
  const always = { token: 'secret', signals: true, echo: false }
  const handshake = (...[scope, appState]: [Parameters<typeof createSocketSignIn>[0]['scope'], (() => AppState)?]) =>
    createSocketSignIn({ token: 'secret', scope, appState }).handshake()
  t.strictSame(await handshake({ as: 'app' }), { ...always, clientType: 'user-scoped' })
  t.strictSame(await handshake({ as: 'session', id: 's1' }), { ...always, clientType: 'session-scoped', sessionId: 's1' })
  t.strictSame(await handshake({ as: 'machine', id: 'm1' }), { ...always, clientType: 'machine-scoped', machineId: 'm1' })
  t.strictSame(await handshake({ as: 'app' }, () => ({ state: 'active', partials: true, watchedForMs: 60_000 })), {
    ...always,
    clientType: 'user-scoped',
    appState: 'active',
    partials: true,
    watchedForMs: 60_000
  })
})

t.test('a rejected token is renewed if it can be, and only another one is worth a new attempt', async t => {
  t.equal(await createSocketSignIn({ token: 'secret', scope: { as: 'app' } }).renew(), false)
  const refused: string[] = []
  let next = 'one'
  const token = {
    token: async () => next,
    renew: async (sent: string) => {
      refused.push(sent)
      return next
    }
  }
  const signIn = createSocketSignIn({ token, scope: { as: 'app' } })
  t.equal((await signIn.handshake()).token, 'one')
  t.equal(await signIn.renew(), false)
  next = 'two'
  t.equal(await signIn.renew(), true)
  t.same(refused, ['one', 'one'])
})
