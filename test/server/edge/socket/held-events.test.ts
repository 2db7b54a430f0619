import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { Budget } from '../../../../lib/server/budget.ts'
import type { EngineConnection } from '../../../../lib/server/edge/socket/engineio.ts'
import { SocketConnection, type SocketDeps } from '../../../../lib/server/edge/socket/socketio.ts'
import { Seats, unlimited } from '../../../../lib/server/limits.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

t.test('unhandled events count together per account, handled ones no longer [B2]', async t => {
  const works: PromiseWithResolvers<void>[] = []
  const deps = {
    hub: { attach: async () => {}, detach() {} },
    clock: manualClock(),
    newId: () => 'id',
    nextAckId: () => 1,
    authenticator: { bearer: async () => ({ account: 'ada', token: 't', kind: 'app', scopes: ['read', 'write'], device: null }) },
    seats: new Seats(64),
    events: {
      handle() {
        const work = Promise.withResolvers<void>()
        works.push(work)
        return work.promise
      }
    },
    limits: unlimited,
    bodies: new Budget(10_000),
    underWay: { isClosing: false }
  } as unknown as SocketDeps
  const open = async () => {
    const closed: string[] = []
    // What a SocketConnection calls of its engine, and nothing else.
    const engine = { send() {}, close: (why: string) => closed.push(why), signedIn: () => true } as unknown as EngineConnection
    const socket = new SocketConnection(deps, engine)
    socket.message('0{"token":"t"}', false)
    await turnEnds()
    return { closed, say: (bytes: number) => socket.message(`2["message","${'x'.repeat(bytes)}"]`, false) }
  }
  const [one, two] = [await open(), await open()]
  one.say(2_000)
  two.say(2_000)
  one.say(500)
  works[0]?.resolve()
  await turnEnds()
  two.say(2_000)
  t.same([one.closed, two.closed], [[], []], 'a little one is never too much')
  one.say(2_000)
  t.same([one.closed, two.closed], [['too-fast'], []])
})
