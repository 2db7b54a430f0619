import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { accountTopic, type BusEvent, instanceTopic } from '../../../lib/bus/bus.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { Hub } from '../../../lib/server/hub/hub.ts'
import { failingBus } from '../../bus/failing-bus.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { account, Ear, emptyStore } from '../ear.ts'

const topic = accountTopic(account)
const method = 's:abort'
const replyTo = instanceTopic('caller')

/** Instances of one server, each with its own end of the bus and its own clock. */
async function openInstances(t: Test, count: number) {
  const bus = failingBus()
  const onError = (error: unknown) => t.error(error)
  const instances = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const clock = manualClock()
      const end = bus.open({ onError })
      const hub = await Hub.open({ bus: end, store: emptyStore, clock, newId: randomUUID, onError }, `instance${at}`)
      t.teardown(() => hub.close())
      return { hub, clock, end }
    })
  )
  const pass = (ms: number) => {
    for (const { clock } of instances) clock.advance(ms)
  }
  return { bus, instances, pass }
}

type Instance = Awaited<ReturnType<typeof openInstances>>['instances'][number]

async function register({ hub }: Instance, id: string): Promise<Ear> {
  const ear = new Ear(id)
  await hub.attach(ear)
  hub.register(ear, method)
  return ear
}

/** Which of them a call reaches now. */
function reached({ end }: Instance, ...ears: Ear[]): string[] {
  const before = ears.map(ear => ear.asked.length)
  end.publish(topic, { type: 'call', id: crypto.randomUUID(), replyTo, from: undefined, method, params: v.parse(ids.sealed, 'x') })
  return ears.filter((ear, at) => ear.asked.length > (before[at] ?? 0)).map(({ id }) => id)
}

t.test(
  'of two registrations that cross on the bus exactly one stays, whichever came first, and the other is notified [R2] [M1]',
  async t => {
    for (const order of [0, 1]) {
      const { bus, instances, pass } = await openInstances(t, 2)
      const [one, other] = instances
      if (!one || !other) throw new Error('two were opened')
      // Both know of each other.
      await one.hub.attach(new Ear('reader'))
      await other.hub.attach(new Ear('reader'))
      bus.hold()
      const first = await register(order === 0 ? one : other, 'a')
      pass(100)
      const second = await register(order === 0 ? other : one, 'b')
      pass(100)
      bus.release()
      const stays = reached(one, first, second)
      t.equal(stays.length, 1)
      t.same(reached(other, first, second), stays, 'the same from everywhere')
      for (const ear of [first, second]) t.equal(ear.told('rpc-unregistered').length, stays.includes(ear.id) ? 0 : 1, ear.id)
      for (const { hub } of instances) await hub.close()
    }
  }
)

t.test('the newest registration wins also at an instance that knew of none before [R2] [M1]', async t => {
  const { instances, pass } = await openInstances(t, 2)
  const [busy, fresh] = instances
  if (!busy || !fresh) throw new Error('two were opened')
  // Stamps rise where methods are registered again and again.
  let old = await register(busy, 'z')
  for (let round = 0; round < 9; round += 1) old = await register(busy, `z${round}`)
  pass(40_000)
  const newest = await register(fresh, 'a')
  t.same(reached(busy, old, newest), ['a'])
  t.equal(old.told('rpc-unregistered').length, 1)
  t.equal(newest.told('rpc-unregistered').length, 0)

  pass(1_000)
  const third = await register(busy, '0')
  t.same(reached(fresh, newest, third), ['0'], 'and so it goes on')
})

t.test('of three registrations that cross, one stays [R2] [M1]', async t => {
  const { bus, instances, pass } = await openInstances(t, 3)
  bus.hold()
  const ears: Ear[] = []
  for (const [at, instance] of instances.entries()) {
    ears.push(await register(instance, `${at}`))
    pass(1)
  }
  bus.release()
  for (const instance of instances) t.same(reached(instance, ...ears).length, 1)
})

t.test('a call requested again after it ended does not run again [R5]', async t => {
  const { instances, pass } = await openInstances(t, 1)
  const [only] = instances
  if (!only) throw new Error('one was opened')
  const callee = await register(only, 'a')
  const call: BusEvent = { type: 'call', id: '1', replyTo, from: undefined, method, params: v.parse(ids.sealed, 'x') }
  only.end.publish(topic, call)
  callee.answer('done')
  only.end.publish(topic, call)
  t.equal(callee.asked.length, 1)
  pass(60_000)
  t.equal(callee.asked.length, 1)
})

t.test('an ended call is remembered as long as an answer may take, and not forever [R5]', async t => {
  const { instances, pass } = await openInstances(t, 1)
  const [only] = instances
  if (!only) throw new Error('one was opened')
  const callee = await register(only, 'a')
  const call: BusEvent = { type: 'call', id: '1', replyTo, from: undefined, method, params: v.parse(ids.sealed, 'x') }
  const end = (id: string) => {
    only.end.publish(topic, { ...call, id })
    callee.answer('done')
  }
  end('another')
  pass(29_000)
  end('1')
  pass(29_999)
  only.end.publish(topic, call)
  t.equal(callee.asked.length, 2, 'not run again')
  pass(60_000)
  only.end.publish(topic, call)
  t.equal(callee.asked.length, 3, 'forgotten')
})

/** One instance, its callee, and what callers and other instances hear. */
async function openOne(t: Test) {
  const { instances, pass } = await openInstances(t, 2)
  const [one, other] = instances
  if (!one || !other) throw new Error('two were opened')
  const replies: BusEvent[] = []
  await other.end.subscribe(replyTo, event => replies.push(event))
  const announced: BusEvent[] = []
  await other.end.subscribe(topic, event => event.type === 'callee-here' && announced.push(event))
  const call = (id: string, more: Partial<Extract<BusEvent, { type: 'call' }>> = {}) =>
    other.end.publish(topic, { type: 'call', id, replyTo, method, params: v.parse(ids.sealed, 'x'), ...more })
  return { one, other, call, pass, replies: () => replies.splice(0), announced: () => announced.splice(0) }
}
const taken = (id: string) => ({ type: 'call-taken', id, instance: 'instance0' })
const failedAs = (id: string, why: string) => ({ type: 'call-answered', id, result: { ok: false, why } })

t.test('a registration is confirmed and announced to the other instances, and counts anew when it is repeated [R2]', async t => {
  const { one, pass, announced } = await openOne(t)
  const ear = await register(one, 'a')
  t.strictSame(ear.told('rpc-registered'), [{ method }])
  t.strictSame(announced(), [{ type: 'callee-here', method, connection: 'a', stamp: 1, heldForMs: 0 }])
  pass(5)
  one.hub.register(ear, method)
  t.strictSame(ear.told('rpc-registered'), [{ method }, { method }])
  t.strictSame(ear.told('rpc-unregistered'), [])
  t.match(announced(), [{ stamp: 2, heldForMs: 0 }])
  const next = await register(one, 'b')
  t.strictSame(ear.told('rpc-unregistered'), [{ method }], 'another connection takes it over')
  t.strictSame(next.told('rpc-unregistered'), [])
})

t.test('a callee gets the call with the device that made it, and its answer goes to the caller [R3]', async t => {
  const { one, call, replies } = await openOne(t)
  const callee = await register(one, 'a')
  call('1', { by: v.parse(ids.deviceId, 'd') })
  t.strictSame(callee.asked, [{ method, by: 'd', params: 'x' }])
  t.strictSame(replies(), [taken('1')])
  callee.answer('done')
  t.strictSame(replies(), [{ type: 'call-answered', id: '1', result: { ok: true, value: 'done' } }])
  call('2')
  t.strictSame(callee.asked[1], { method, params: 'x' })
})

t.test('a call ends once, whatever ends it, and the caller is told why [R5]', async t => {
  const { one, other, call, pass, replies } = await openOne(t)
  const callee = await register(one, 'a')
  call('1')
  call('1')
  t.same(callee.asked.length, 1, 'it has it already')
  t.strictSame(replies(), [taken('1')])
  callee.answer({ not: 'sealed' })
  t.strictSame(replies(), [failedAs('1', 'internal')])

  call('2')
  pass(29_999)
  t.strictSame(replies(), [taken('2')])
  pass(1)
  t.strictSame(replies(), [failedAs('2', 'timed-out')])

  call('3')
  other.end.publish(topic, { type: 'call-dropped', id: 'another' })
  t.strictSame(replies(), [taken('3')])
  other.end.publish(topic, { type: 'call-dropped', id: '3' })
  t.strictSame(replies(), [failedAs('3', 'internal')])

  call('4')
  const bystander = await register(one, 'b')
  one.hub.detach(bystander)
  t.strictSame(replies(), [taken('4')])
  one.hub.detach(callee)
  t.strictSame(replies(), [failedAs('4', 'callee-gone')])
  pass(60_000)
  t.strictSame(replies(), [])
})

t.test('a connection does not answer its own call', async t => {
  const { one, call, replies } = await openOne(t)
  const callee = await register(one, 'a')
  call('1', { from: callee.id })
  t.strictSame(replies(), [taken('1'), failedAs('1', 'same-connection')])
  t.same(callee.asked, [])
})

t.test('only its own connection ends a registration, and then nobody answers', async t => {
  const { one, call, replies } = await openOne(t)
  const callee = await register(one, 'a')
  const stranger = new Ear('b')
  await one.hub.attach(stranger)
  one.hub.unregister(stranger, method)
  call('1')
  t.strictSame(replies(), [taken('1')])
  one.hub.unregister(callee, method)
  call('2')
  one.hub.register(callee, method)
  one.hub.detach(callee)
  call('3')
  t.strictSame(replies().slice(1), [], 'the one it had has ended')
})

t.test(
  'of registrations of two instances the higher stamp counts, then the higher id, and the younger one raises its own [R2]',
  async t => {
    const { one, other, call, pass, replies, announced } = await openOne(t)
    const hear = (connection: string, stamp: number, heldForMs: number) => {
      other.end.publish(topic, { type: 'callee-here', method, connection: v.parse(ids.connectionId, connection), stamp, heldForMs })
      // The first one is the other instance's own.
      return announced().slice(1)
    }
    const callee = await register(one, 'm')
    pass(100)
    announced()
    t.strictSame(hear('m', 1, 0), [], 'it is its own')
    t.match(hear('a', 1, 1_000), [{ stamp: 1, heldForMs: 100 }], 'the other one is below it, and hears of it')
    t.match(hear('z', 1, 1_000), [{ stamp: 2, heldForMs: 100 }], 'the other one is above it, but older')
    t.match(hear('z', 7, 101), [{ stamp: 8 }])
    t.strictSame(hear('z', 9, 100), [])
    t.strictSame(callee.told('rpc-unregistered'), [{ method }], 'the other one is not older')
    call('1')
    t.strictSame(replies(), [])
    one.hub.register(callee, method)
    t.match(announced(), [{ stamp: 10 }], 'above all that it has heard of')
  }
)
