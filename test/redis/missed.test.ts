import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { lacks } from '../kit/needs.ts'
import { next, Person, signUp, type Untyped } from '../kit/person.ts'
import { lacksPostgres, type Postgres, startPostgres } from '../kit/postgres.ts'
import { startRedis } from '../kit/redis.ts'
import { startServerProcess } from '../kit/server.ts'

const skip = lacks('redis') || lacksPostgres

/** The promise, and some time for a busy machine. */
const mostMs = 5_000 + 1_500

interface Engines {
  postgres: Postgres
  bus: string
}

/** Two programs on one PostgreSQL and one Redis; `more` is only for the first. */
async function startInstances(t: Test, { postgres, bus }: Engines, more: Record<string, string> = {}) {
  const env = { AFIELD_STORE: await postgres.makeDatabase(), AFIELD_BUS: bus }
  const data = t.testdir({ one: {}, two: {} })
  const two = await startServerProcess(t, { data: join(data, 'two'), env })
  const one = await startServerProcess(t, { data: join(data, 'one'), env: { ...env, ...more } })
  const here = await signUp(t, one)
  return { one, here, there: new Person(t, two, here.secret, here.token) }
}

const withText = (localId: string) => (update: Untyped) => update.body.message?.localId === localId

t.test('what is stored at one instance reaches clients of the other without Redis', { skip }, async t => {
  const [redis, postgres] = await Promise.all([startRedis(t), startPostgres(t)])

  for (const [how, away, back] of [
    ['killed', () => redis.kill(), () => redis.start()],
    ['stopped', () => redis.pause(), () => redis.resume()]
  ] as const) {
    t.test(`${how}, on the connections that are there, and as before when it is back [M2]`, async t => {
      const { here, there } = await startInstances(t, { postgres, bus: redis.url() })
      const session = await here.openSession()
      const app = await there.connect()
      const wrapper = await there.connect({ clientType: 'session-scoped', sessionId: session })
      await away()
      for (const localId of ['a', 'b']) {
        const told = [app, wrapper].map(socket => next(socket, 'update', withText(localId)))
        await here.send(session, { localId })
        const stored = performance.now()
        for (const update of await Promise.all(told)) t.match(update, { body: { t: 'new-message', sid: session } })
        t.ok(performance.now() - stored < mostMs)
      }
      t.ok(app.connected && wrapper.connected)
      const opened = next(app, 'update', ({ body }) => body.t === 'new-session' && body.id !== session)
      const another = await here.openSession()
      t.match(await opened, { body: { id: another } })

      await back()
      // Each instance says once that it may have lost something, which closes connections.
      for (let heard: Untyped; typeof heard !== 'object'; ) {
        const again = await there.connect()
        const first = Promise.race([next(again, 'update'), next(again, 'disconnect')])
        await here.send(session, { localId: crypto.randomUUID() })
        heard = await first
      }
    })
  }

  t.test('and so does a message of an instance that is killed between storing and announcing it [M2]', async t => {
    const dies = pathToFileURL(join(import.meta.dirname, 'dies-before-announcing.mjs')).href
    const { one, here, there } = await startInstances(t, { postgres, bus: redis.url() }, { NODE_OPTIONS: `--import ${dies}` })
    const session = await here.openSession()
    const app = await there.connect()
    const told = next(app, 'update', withText('last words'))
    const ended = new Promise(resolve => one.child.once('exit', (_, signal) => resolve(signal)))
    await here.send(session, { localId: 'last words' }).catch(() => {})
    t.equal(await ended, 'SIGKILL')
    const stored = performance.now()
    t.match(await told, { body: { t: 'new-message', message: { seq: 1 } } })
    t.ok(performance.now() - stored < mostMs)
    t.ok(app.connected)
  })
})
