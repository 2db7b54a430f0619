import t, { type Test } from 'tap'
import { type Client, Link } from '../../redis/link.ts'
import { placeOf } from '../../redis/place.ts'
import { manualClock } from '../kit/manual-clock.ts'
import { lacks } from '../kit/needs.ts'
import { startRedis } from '../kit/redis.ts'
import { openTcpProxy } from '../kit/tcp-proxy.ts'

/** The longest wait before another attempt, that after a first failure, and the time between two pings. */
const [longestMs, firstMs, pingMs] = [2_000, 200, 1_000]
const turn = () => new Promise<void>(resolve => setImmediate(resolve))

t.test('a connection to Redis', { skip: lacks('redis') }, async t => {
  const redis = await startRedis(t)

  /** A link through a proxy, what its owner was told, and a clock that stands still. */
  async function open(t: Test, { onUp = async (_: Client) => {}, port = redis.port } = {}) {
    const proxy = await openTcpProxy(t, `http://127.0.0.1:${port}`)
    const clock = manualClock()
    const said: string[] = []
    const clients: Client[] = []
    let wake = () => {}
    const say = (what: string) => {
      said.push(what)
      wake()
    }
    const link = new Link({
      ...{ clock, place: placeOf(proxy.url.replace('http', 'redis')) },
      async onUp(client) {
        clients.push(client)
        await onUp(client)
        say('up')
      },
      onDown: () => say('down'),
      onError: error => say(String(error).replace(/.*does not work: (.*?)\. Live.*/, '$1'))
    })
    t.teardown(() => link.close())
    return {
      ...{ link, proxy, clock, said, clients },
      /** Until so much was said; then the next attempt waits for the clock. */
      async hears(count: number) {
        while (said.length < count) {
          await new Promise<void>(resolve => {
            wake = resolve
          })
        }
        await turn()
      }
    }
  }

  await t.test('that ends comes back, soon after a success, and each outage is reported once', async t => {
    const { link, proxy, clock, said, hears } = await open(t)
    await link.start()
    t.same(said, ['up'])
    await proxy.closePort()
    await hears(3)
    t.match(said, ['up', 'down', /./])
    for (let attempt = 1; attempt <= 5; attempt++) {
      clock.advance(longestMs)
      await hears(3 + attempt)
    }
    t.same(said.splice(0).slice(3), ['down', 'down', 'down', 'down', 'down'])
    await proxy.openPort()
    clock.advance(longestMs)
    await hears(1)
    t.same(said, ['up'])
    for (const count of [3, 6]) {
      proxy.cut()
      await hears(count)
      clock.advance(firstMs)
      await hears(count + 1)
    }
    t.match(said, ['up', 'down', /./, 'up', 'down', /./, 'up'])
  })

  await t.test('that stops answering is given up at the fifth ping, and answers between pings count', async t => {
    const { link, clock, said, clients, hears } = await open(t)
    await link.start()
    for (let round = 0; round < 6; round++) {
      clock.advance(pingMs)
      await clients[0]?.ping()
    }
    redis.pause()
    t.teardown(() => redis.resume())
    for (let round = 0; round < 4; round++) {
      clock.advance(pingMs)
      await turn()
    }
    t.same(said, ['up'])
    clock.advance(pingMs)
    await hears(3)
    t.same(said, ['up', 'down', 'TIMEOUT'])
    redis.resume()
    clock.advance(firstMs)
    await hears(4)
    t.same(said.at(-1), 'up')
    t.not(clients[0], clients[1])
    await t.rejects(async () => clients[0]?.ping(), 'the old one is closed')
  })

  await t.test('is replaced when its owner says so, or cannot use it', async t => {
    let isUsable = true
    const onUp = async () => {
      if (!isUsable) throw new Error('NOPERM no')
    }
    const { link, clock, said, hears } = await open(t, { onUp })
    await link.start()
    isUsable = false
    link.reset()
    await hears(3)
    t.same(said.splice(0), ['up', 'down', 'it closed the connection'])
    clock.advance(firstMs)
    await hears(1)
    t.same(said.splice(0), ['down'])
    isUsable = true
    clock.advance(longestMs)
    await hears(1)
    t.same(said, ['up'])
  })

  await t.test('that is not there yet is tried again, and the first attempt has a time limit', async t => {
    const { link, proxy, clock, said, hears } = await open(t)
    proxy.stall()
    let isStarted = false
    const started = link.start().then(() => {
      isStarted = true
    })
    await turn()
    t.notOk(isStarted)
    clock.advance(5_000)
    await started
    t.same(said, ['down', 'DeadlineExceeded'])
    proxy.heal()
    clock.advance(firstMs)
    await hears(3)
    t.same(said.at(-1), 'up')
  })

  await t.test('that is rejected for its password fails the start', async t => {
    const { port } = await startRedis(t, { requirepass: 'secret' })
    const { link, said } = await open(t, { port })
    await t.rejects(link.start(), { name: 'CannotStart', message: /it rejects the password or user \(NOAUTH\)\.$/ })
    t.match(said, ['down', /NOAUTH/])
  })

  await t.test('ends with its owner, whether it is there or not, and leaves no timer', async t => {
    const { link, clock, said, clients } = await open(t)
    await link.start()
    await link.close()
    t.same(said, ['up', 'down'])
    t.equal(clock.pending, 0)
    t.notOk(clients[0]?.isOpen)

    const away = await open(t)
    await away.proxy.closePort()
    await away.link.start()
    await away.link.close()
    t.equal(away.clock.pending, 0)
    t.match(away.said, ['down', /ECONN/])

    const early = await open(t)
    early.proxy.stall()
    const started = early.link.start()
    await early.link.close()
    await started
    t.equal(early.clock.pending, 0)
    t.same(early.said, ['down'])
  })
})
