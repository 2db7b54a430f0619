import t, { type Test } from 'tap'
import { type Client, Link } from '../../../postgres/bus/link.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'

/** The longest wait before another attempt, and that after a first failure. */
const [longestMs, firstMs] = [2_000, 200]
const turn = () => new Promise<void>(resolve => setImmediate(resolve))
const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await turn()
}

t.test('a connection that listens', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const database = new URL(await postgres.makeDatabase())

  /** A link through a proxy, what its owner was told, and a clock that stands still. */
  async function open(t: Test) {
    const proxy = await openTcpProxy(t, `http://127.0.0.1:${database.port}`)
    const clock = manualClock()
    const said: string[] = []
    const clients: Client[] = []
    const link = new Link({
      ...{ clock, url: database.href.replace(database.port, new URL(proxy.url).port) },
      onUp(client) {
        clients.push(client)
        said.push('up')
      },
      onDown: client => said.push(client === clients.at(-1) ? 'down' : 'down of another'),
      onError: error => said.push(String(error)),
      onNotified: payload => said.push(payload)
    })
    t.teardown(() => link.close())
    return { link, proxy, clock, said, clients }
  }
  const outage = /^Error: The bus lost its connection to the database, and connects again/

  await t.test('hears what it and others notify, in their order', async t => {
    const [one, other] = [await open(t), await open(t)]
    await Promise.all([one.link.start(), other.link.start()])
    t.same(one.said, ['up'])
    await one.clients[0]?.notify(['a', 'b'])
    await other.clients[0]?.notify(['c'])
    for (const { said } of [one, other]) {
      await until(() => said.includes('c'))
      t.same(said, ['up', 'a', 'b', 'c'])
    }
  })

  await t.test('comes back when it ended, soon after a success, and each outage is reported once', async t => {
    const { link, proxy, clock, said } = await open(t)
    await link.start()
    proxy.moveTo('http://127.0.0.1:1')
    proxy.cut()
    await until(() => said.length === 3)
    t.match(said.splice(0), ['up', 'down', outage])
    const attempts = proxy.connects + 6
    while (proxy.connects < attempts) {
      clock.advance(longestMs)
      await turn()
    }
    t.same(said, [])
    proxy.moveTo(`http://127.0.0.1:${database.port}`)
    while (said.length === 0) {
      clock.advance(longestMs)
      await turn()
    }
    for (const count of [3, 6]) {
      proxy.cut()
      await until(() => said.length === count)
      await turn()
      clock.advance(firstMs)
      await until(() => said.length === count + 1)
    }
    t.match(said, ['up', 'down', outage, 'up', 'down', outage, 'up'])
  })

  await t.test('is checked every second, and replaced when its owner says so', async t => {
    const { link, clock, said } = await open(t)
    await link.start()
    const asked = "SELECT FROM pg_stat_activity WHERE application_name = 'afield bus' AND query = 'SELECT'"
    t.same(await postgres.query(asked), [])
    clock.advance(1_000)
    while ((await postgres.query(asked)).length === 0);
    link.reset(new Error('its owner cannot use it'))
    await until(() => said.length === 3)
    t.match(said, ['up', 'down', outage])
    await turn()
    clock.advance(firstMs)
    await until(() => said.length === 4)
    t.equal(said.at(-1), 'up')
  })

  await t.test('ends with its owner, whether it is there or not, and leaves no timer', async t => {
    const { link, clock, said } = await open(t)
    await link.start()
    await link.close()
    t.same([said, clock.pending], [['up', 'down'], 0])
    while ((await postgres.query("SELECT FROM pg_stat_activity WHERE application_name = 'afield bus'")).length > 0);

    const away = await open(t)
    away.proxy.moveTo('http://127.0.0.1:1')
    await away.link.start()
    t.match(away.said, [outage])
    await away.link.close()
    t.equal(away.clock.pending, 0)

    const early = await open(t)
    early.proxy.stall()
    const started = early.link.start()
    await early.link.close()
    await started
    t.same([early.said, early.clock.pending], [[], 0])
  })
})
