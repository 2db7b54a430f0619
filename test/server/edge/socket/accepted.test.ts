import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { handshake } from '../../../../lib/protocol/wire/handshake.ts'
import type { ConnectionId } from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import { Accepted } from '../../../../lib/server/edge/socket/accepted.ts'
import type { EngineConnection } from '../../../../lib/server/edge/socket/engineio.ts'

const never = Number.NEGATIVE_INFINITY
const person = { account: 'ada', token: 'tok', kind: 'account', device: 'dev' }

function accept(hello: object = {}, scopes = ['read', 'write']) {
  const sent: string[] = []
  const engine = {
    send: (frame: string) => sent.push(frame),
    close: (why: string) => sent.push(`closes ${why}`)
  } as unknown as EngineConnection
  const bearer = { ...person, scopes, secret: 'not for a caller' } as unknown as ConstructorParameters<typeof Accepted>[2]
  let lastAck = 6
  const deps = { clock: { now: () => 1_000 }, nextAckId: () => ++lastAck }
  return { accepted: new Accepted(engine, 'c1' as ConnectionId, bearer, v.parse(handshake, hello), deps), sent }
}

t.test('a connection sees what it said it is', t => {
  const scopeOf = (hello: object) => accept(hello).accepted.scope
  t.same(scopeOf({ clientType: 'session-scoped', sessionId: 's', machineId: 'm' }), { of: 'session', id: 's' })
  t.same(scopeOf({ clientType: 'machine-scoped', sessionId: 's', machineId: 'm' }), { of: 'machine', id: 'm' })
  for (const hello of [
    {},
    { clientType: 'user-scoped', sessionId: 's' },
    { clientType: 'session-scoped', machineId: 'm' },
    { sessionId: 's' }
  ]) {
    t.equal(scopeOf(hello), 'app')
  }
  t.equal(scopeOf({ clientType: 'machine-scoped', sessionId: 's' }), 'app')
  const { accepted } = accept()
  t.same([accepted.id, accepted.account, accepted.token, accepted.isPresent], ['c1', 'ada', 'tok', true])
  t.equal(accept({}, ['read']).accepted.isPresent, false)
  t.end()
})

t.test('only clients that know them get our events, and growing text unless they decline it', t => {
  const table: [hello: object, readsOurs: boolean, takesPartials: boolean][] = [
    [{}, false, false],
    [{ echo: true }, false, false],
    [{ echo: false }, true, true],
    [{ signals: true }, true, true],
    [{ signals: false, echo: false }, false, false],
    [{ signals: true, partials: false }, true, false],
    [{ partials: true }, false, true]
  ]
  for (const [hello, ...expected] of table) {
    const { readsAfieldEvents, takesPartials } = accept(hello).accepted
    t.same([readsAfieldEvents, takesPartials], expected, JSON.stringify(hello))
  }
  t.end()
})

t.test('an app that says so counts as in use, for as long as it says', t => {
  const app = { clientType: 'user-scoped', appState: 'active' }
  const until = (hello: object, scopes?: string[]) => accept(hello, scopes).accepted.watchedUntil
  t.equal(until(app), Number.POSITIVE_INFINITY)
  t.equal(until({ ...app, watchedForMs: 500 }), 1_500)
  t.equal(until({ ...app, appState: 'background' }), never)
  t.equal(until({ appState: 'active' }), never, 'a program is no app')
  t.equal(until(app, ['read']), never, 'nor is who only reads')
  const { accepted } = accept(app)
  accepted.watch('background')
  t.equal(accepted.watchedUntil, never)
  accepted.watch('active', 20)
  t.equal(accepted.watchedUntil, 1_020)
  t.end()
})

t.test('a sender never gets its own message, and a writer its own value unless it declined [S3]', t => {
  const caller = { ...person, scopes: ['read', 'write'] }
  const { accepted } = accept()
  t.same(accepted.sender, { ...caller, skip: 'c1' })
  t.same(accepted.writer, { ...caller, skip: undefined })
  t.same(accepted.sender, { ...caller, skip: 'c1' })
  t.same(accept({ echo: true }).accepted.writer.skip, undefined)
  t.same(accept({ echo: false }).accepted.writer.skip, 'c1')
  t.end()
})

t.test('what a connection waits for ends with it', t => {
  const { accepted } = accept()
  const { gone } = accepted
  t.equal(accepted.gone, gone)
  t.notOk(gone.aborted || accepted.hasEnded)
  const replies: unknown[] = []
  accepted.ask('rpc-request', {}, reply => replies.push(reply))
  accepted.end()
  t.ok(gone.aborted && accepted.hasEnded)
  accepted.acknowledged(7, 'late')
  t.same(replies, [])
  const other = accept().accepted
  other.end()
  t.ok(other.gone.aborted, 'also for who looks later')
  t.end()
})

t.test('each question has its own number, and is answered once or not at all [R5]', t => {
  const { accepted, sent } = accept()
  accepted.acknowledged(7, 'to nothing')
  const replies: unknown[] = []
  const note = (reply: unknown) => replies.push(reply)
  accepted.ask('one', { a: 1 }, note)
  const cancel = accepted.ask('two', { b: 2 }, note)
  t.same(sent, ['427["one",{"a":1}]', '428["two",{"b":2}]'])
  accepted.acknowledged(7, 'first')
  accepted.acknowledged(7, 'again')
  cancel()
  accepted.acknowledged(8, 'too late')
  t.same(replies, ['first'])
  t.end()
})

t.test('frames and closes reach its engine, and its methods are remembered', t => {
  const { accepted, sent } = accept()
  accepted.send('frame')
  accepted.close('too-fast')
  t.same(sent, ['frame', 'closes too-fast'])
  accepted.methods.add('s:run')
  t.same([...accepted.methods], ['s:run'])
  t.end()
})

t.test('what was written is known when every write is done, in whatever order [D1]', async t => {
  const { accepted } = accept()
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  accepted.writes(one.promise)
  accepted.writes(other.promise)
  let isDone = false
  void accepted.written.then(() => {
    isDone = true
  })
  other.resolve()
  await turnEnds()
  t.notOk(isDone)
  one.resolve()
  await turnEnds()
  t.ok(isDone)
  accepted.writes(new Promise(() => {}))
  accepted.writes(Promise.resolve())
  let isLater = false
  void accepted.written.then(() => {
    isLater = true
  })
  await turnEnds()
  t.notOk(isLater)
})
