import { readFileSync } from 'node:fs'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { accountTopic, type Bus, type BusEvent, limitsTopic, type Topic } from '../../lib/bus/bus.ts'
import { CannotStart } from '../../lib/exit.ts'
import * as ids from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { openRedisBus } from '../../redis/bus.ts'
import { busContract } from '../bus/contract.ts'
import { writeCertificate } from '../kit/certificate.ts'
import { lacks } from '../kit/needs.ts'
import { type Redis, startRedis } from '../kit/redis.ts'
import { openTcpProxy } from '../kit/tcp-proxy.ts'

const topic = accountTopic(v.parse(ids.accountId, 'ada'))
const other = accountTopic(v.parse(ids.accountId, 'grace'))
const event = (id: string): BusEvent => ({ type: 'call-dropped', id })

t.test('what every bus keeps', { skip: lacks('redis') }, async t => {
  const redis = await startRedis(t)
  busContract(
    t,
    t => {
      const url = redis.url()
      return {
        async open(on = { onError: error => t.fail(String(error)) }) {
          const bus = await openRedisBus(url, on)
          t.teardown(() => bus.close())
          return bus
        },
        cut: () => cut(redis),
        async send(topic, content) {
          await redis.ask('PUBLISH', `afield:${new URL(url).pathname.slice(1)}:${topic}`, `another ${content}`)
        }
      }
    },
    { instances: 'many' }
  )
})

/** An end of a bus, what it heard on a topic, what it said it lost, and what it reported. */
async function openEnd(t: Test, url: string) {
  const errors: string[] = []
  let wake = () => {}
  const onError = (error: unknown) => {
    errors.push(String(error))
    wake()
  }
  const bus = await openRedisBus(url, { onError })
  t.teardown(() => bus.close())
  const heard: string[] = []
  const lost: (Topic | undefined)[] = []
  bus.onLost(topic => {
    lost.push(topic)
    wake()
  })
  await bus.subscribe(topic, told => {
    heard.push('id' in told ? told.id : told.type)
    wake()
  })
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  return {
    ...{ bus, errors, heard, lost },
    hears: (id: string) => until(() => heard.includes(id)),
    losesAnything: () => until(() => lost.includes(undefined)),
    isCutOff: () => until(() => errors.length >= 2)
  }
}

async function cut(redis: Redis): Promise<void> {
  for (const type of ['pubsub', 'normal']) await redis.ask('CLIENT', 'KILL', 'TYPE', type)
}

/** What a second end hears once everything published before was heard. */
async function fence(from: Bus, to: Awaited<ReturnType<typeof openEnd>>): Promise<void> {
  const id = `fence ${crypto.randomUUID()}`
  from.publish(topic, event(id))
  await to.hears(id)
}

t.test(
  'a Redis that is killed and comes back empty: the loss is said, and events arrive again [M2] [M3]',
  { skip: lacks('redis') },
  async t => {
    const redis = await startRedis(t)
    const url = redis.url()
    const [here, there] = [await openEnd(t, url), await openEnd(t, url)]
    here.bus.publish(topic, event('before'))
    await there.hears('before')
    await redis.kill()
    here.bus.publish(topic, event('meanwhile'))
    t.ok(here.heard.includes('meanwhile'), 'clients of the same instance notice nothing')
    const heardLate: BusEvent[] = []
    await there.bus.subscribe(other, told => heardLate.push(told))
    t.same([here.lost, there.lost], [[], []], 'not before events arrive again')
    await redis.start()
    await Promise.all([here.losesAnything(), there.losesAnything()])
    here.bus.publish(other, event('late'))
    here.bus.publish(topic, event('after'))
    await there.hears('after')
    t.same(heardLate, [event('late')], 'also where someone subscribed meanwhile')
    for (const { errors } of [here, there]) {
      t.ok(errors.length > 0)
      for (const error of errors) t.match(error, /^Error: The bus at 127\.0\.0\.1:\d+ does not work: \S+.*wait for it\.$/)
    }
  }
)

t.test(
  'a Redis that stops answering counts as gone, and the loss is said when it answers again [M2]',
  { skip: lacks('redis') },
  async t => {
    const redis = await startRedis(t)
    const url = redis.url()
    const [here, there] = [await openEnd(t, url), await openEnd(t, url)]
    await fence(here.bus, there)
    redis.pause()
    here.bus.publish(topic, event('meanwhile'))
    // It cannot be confirmed, and must not wait for ever.
    await there.bus.subscribe(other, () => {})
    redis.resume()
    await Promise.all([here.losesAnything(), there.losesAnything()])
    await fence(here.bus, there)
    t.ok(there.errors.some(error => error.includes('TIMEOUT')))
  }
)

t.test('an emptied Redis loses nothing [M3]', { skip: lacks('redis') }, async t => {
  const redis = await startRedis(t)
  const url = redis.url()
  const [here, there] = [await openEnd(t, url), await openEnd(t, url)]
  here.bus.publish(topic, event('before'))
  await redis.ask('FLUSHALL')
  here.bus.publish(topic, event('after'))
  await there.hears('after')
  t.same(there.heard, ['before', 'after'])
  t.same([here.lost, there.lost], [[], []])
})

t.test('an end that Redis disconnects because it reads too slowly says that it lost something [M2]', { skip: lacks('redis') }, async t => {
  const redis = await startRedis(t, { 'client-output-buffer-limit': 'pubsub 1mb 1mb 1' })
  const url = redis.url()
  const [here, there] = [await openEnd(t, url), await openEnd(t, url)]
  await fence(here.bus, there)
  const flood = `for i = 1, 2000 do redis.call('PUBLISH', KEYS[1], string.rep('x', 10000)) end`
  await redis.ask('EVAL', flood, '1', `afield:${new URL(url).pathname.slice(1)}:${topic}`)
  await there.losesAnything()
  t.same(there.lost, [undefined])
  await fence(here.bus, there)
})

t.test(
  'what an end could not publish is said to the others by topic, before anything that waited [M2]',
  { skip: lacks('redis') },
  async t => {
    const redis = await startRedis(t)
    const url = new URL(redis.url())
    const proxy = await openTcpProxy(t, `http://127.0.0.1:${redis.port}`)
    const [here, there] = [await openEnd(t, url.href), await openEnd(t, `redis://127.0.0.1:${new URL(proxy.url).port}${url.pathname}`)]
    await fence(there.bus, here)
    await proxy.closePort()
    proxy.cut()
    await there.isCutOff()
    const params = 'x'.repeat(60_000)
    const call = (topic: Topic) => there.bus.publish(topic, { type: 'call', id: '1', replyTo: topic, method: 's:x', params })
    const heardBefore: number[] = []
    here.bus.onLost(() => heardBefore.push(here.heard.filter(id => id === 'waited').length))
    // Uses of limits would take all the room, and are not waited for.
    const used: BusEvent = { type: 'limits-used', instance: 'i', at: 0, uses: [{ limit: 'login', key: params, ms: 1 }] }
    for (let number = 0; number < 100; number += 1) there.bus.publish(limitsTopic, used)
    there.bus.publish(topic, event('waited'))
    for (let number = 0; number < 100; number += 1) call(other)
    await proxy.openPort()
    await here.hears('waited')
    t.same(here.lost, [other], 'nothing else')
    t.same(heardBefore, [0])
    // This end itself may have missed anything, once it hears again.
    await there.losesAnything()
  }
)

t.test(
  'a large event that Redis no longer has counts as lost, and what follows arrives after it [M3]',
  { skip: lacks('redis') },
  async t => {
    const redis = await startRedis(t)
    const url = redis.url()
    const [here, there] = [await openEnd(t, url), await openEnd(t, url)]
    const channel = `afield:${new URL(url).pathname.slice(1)}:${topic}`
    await redis.ask('PUBLISH', channel, 'another *gone')
    there.bus.publish(topic, event('after'))
    await here.hears('after')
    t.same(here.lost, [topic])
  }
)

t.test('two servers that use different databases of one Redis do not hear each other', { skip: lacks('redis') }, async t => {
  const redis = await startRedis(t)
  const [here, stranger] = [await openEnd(t, redis.url()), await openEnd(t, redis.url())]
  stranger.bus.publish(topic, event('strange'))
  await fence(here.bus, here)
  t.notOk(here.heard.includes('strange'))
})

t.test(
  'a Redis that is away at the start is waited for, and its clients are connected meanwhile [M2]',
  { skip: lacks('redis') },
  async t => {
    const redis = await startRedis(t, { requirepass: 'se-cret' })
    const url = `redis://:se-cret@127.0.0.1:${redis.port}`
    await redis.kill()
    const here = await openEnd(t, url)
    t.match(here.errors, [/127\.0\.0\.1:\d+ does not work: ECONNREFUSED/, /ECONNREFUSED/])
    here.bus.publish(topic, event('alone'))
    t.same(here.heard, ['alone'])
    await redis.start()
    const there = await openEnd(t, url)
    // What waits at the other end arrives whenever that is back.
    here.bus.publish(topic, event('together'))
    await there.hears('together')
    t.notMatch(here.errors.join(), 'se-cret')
  }
)

for (const [why, path, reason] of [
  ['a wrong password', ':wr-ong@', 'it rejects the password or user (WRONGPASS)'],
  ['no password', '', 'it rejects the password or user (NOAUTH)']
] as const)
  t.test(`${why} ends the start with a sentence that does not show it`, { skip: lacks('redis') }, async t => {
    const redis = await startRedis(t, { requirepass: 'se-cret' })
    const refusal: unknown = await openRedisBus(`redis://${path}127.0.0.1:${redis.port}`, { onError() {} }).catch(error => error)
    if (!(refusal instanceof CannotStart)) throw refusal
    t.equal(refusal.message, `The bus at 127.0.0.1:${redis.port} does not work: ${reason}.`)
    t.equal(refusal.exitCode, 78)
  })

t.test('a user needs no more rights than docs/operations.md names', { skip: lacks('redis') }, async t => {
  const commands = '+publish +subscribe +unsubscribe +set +get +ping +select'
  const redis = await startRedis(t, { user: `ada on >pass ~afield:* &afield:* ${commands}` })
  const url = `redis://ada:pass@127.0.0.1:${redis.port}/3`
  const [here, there] = [await openEnd(t, url), await openEnd(t, url)]
  const params = 'x'.repeat(100_000)
  there.bus.publish(topic, { type: 'call', id: 'large', replyTo: topic, method: 's:x', params })
  await here.hears('large')
  const left = await here.bus.subscribe(other, () => {})
  await left()
  await fence(there.bus, here)
  t.same([here.errors, there.errors], [[], []])
})

t.test('an address that is none is rejected without being repeated', async t => {
  for (const url of ['redis://', 'redis://:se-cret@host/x', 'redis://host:port', 'redis://:se-cret@host:99999', 'redis:host']) {
    const refusal: unknown = await openRedisBus(url, { onError() {} }).catch(error => error)
    if (!(refusal instanceof CannotStart)) throw refusal
    t.match(refusal.message, /^--bus is not an address of a Redis, such as/)
    t.notMatch(refusal.message, 'se-cret')
  }
})

t.test('with TLS the certificate is checked, and events travel', { skip: lacks('redis') }, async t => {
  const folder = t.testdir()
  const files = { tlsCert: `${folder}/redis.pem`, tlsKey: `${folder}/redis.key` }
  writeCertificate(files)
  const tls = { 'tls-cert-file': files.tlsCert, 'tls-key-file': files.tlsKey, 'tls-auth-clients': 'no', 'tls-port': '1' }
  const redis = await startRedis(t, tls)
  const url = `rediss://localhost:${redis.port}`
  const refusal: unknown = await openRedisBus(url, { onError() {} }).catch(error => error)
  if (!(refusal instanceof CannotStart)) throw refusal
  t.match(refusal.message, /does not work: DEPTH_ZERO_SELF_SIGNED_CERT\.$/)

  setDefaultCACertificates([...getCACertificates('default'), readFileSync(files.tlsCert, 'utf8')])
  const [here, there] = [await openEnd(t, url), await openEnd(t, url)]
  await fence(here.bus, there)
})
