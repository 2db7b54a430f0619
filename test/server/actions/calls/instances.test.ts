import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { accountTopic, instanceTopic } from '../../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../../lib/bus/local.ts'
import * as ids from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import { createCalls } from '../../../../lib/server/actions/calls/calls.ts'
import type { Caller } from '../../../../lib/server/deps.ts'
import { Hub } from '../../../../lib/server/hub/hub.ts'
import { failingBus } from '../../../bus/failing-bus.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { account, Ear, emptyStore } from '../../ear.ts'

const seconds = 1000
const method = 's:abort'
const topic = accountTopic(account)
const caller: Caller = { account, token: v.parse(ids.tokenId, 't'), kind: 'account', scopes: [], device: null, skip: undefined }
const turn = () => new Promise(setImmediate)
const metrics = { callEnded() {} }

/** An instance that calls, and one where a callee is connected. */
async function openWorld(t: Test) {
  const bus = failingBus()
  const clock = manualClock()
  const onError = (error: unknown) => t.error(error)
  const open = async (name: string) => {
    const end = bus.open({ onError })
    const hub = await Hub.open({ bus: end, store: emptyStore, clock, newId: randomUUID, onError }, name)
    const calls = await createCalls({ bus: end, clock, newId: randomUUID, metrics, onError }, name)
    t.teardown(() => hub.close())
    t.teardown(() => calls.close())
    return { end, hub, calls }
  }
  const [near, far] = [await open('near'), await open('far')]
  const register = async ({ hub }: typeof near) => {
    const ear = new Ear()
    await hub.attach(ear)
    hub.register(ear, method)
    return ear
  }
  const begin = async () => {
    const from = v.parse(ids.connectionId, randomUUID())
    const call = { isOver: false, result: near.calls.call(caller, { method, params: 'x', from, signal: new AbortController().signal }) }
    void call.result.finally(() => {
      call.isOver = true
    })
    await turn()
    return call
  }
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100)
      await turn()
    }
  }
  return { bus, near, far, register, begin, pass }
}

t.test('a call that another instance works on lasts as long as that instance answers [R3] [M1]', async t => {
  const { far, register, begin, pass } = await openWorld(t)
  const callee = await register(far)
  const call = await begin()
  t.equal(callee.asked.length, 1)
  await pass(20 * seconds)
  t.notOk(call.isOver)
  const questions: string[] = []
  await far.end.subscribe(instanceTopic('far'), ({ type }) => questions.push(type))
  callee.answer('done')
  t.same(await call.result, { ok: true, value: 'done' })
  await pass(5 * seconds)
  t.same(questions, [], 'then nobody is asked any more')
})

t.test('it ends within five seconds when that instance dies, and at once when its callee leaves [R3] [M1]', async t => {
  const { far, register, begin, pass } = await openWorld(t)
  const leaves = await register(far)
  const ends = await begin()
  far.hub.detach(leaves)
  t.same(await ends.result, { ok: false, why: 'callee-gone' })

  await register(far)
  const call = await begin()
  await pass(10 * seconds)
  await far.end.close()
  await pass(2 * seconds)
  t.notOk(call.isOver)
  await pass(3 * seconds)
  t.ok(call.isOver)
  t.same(await call.result, { ok: false, why: 'callee-gone' })
})

t.test('calls that lost events may concern end at once, others continue [R3] [M2]', async t => {
  const { bus, far, near, register, begin } = await openWorld(t)
  const there = await register(far)
  const taken = await begin()
  bus.lose(accountTopic(v.parse(ids.accountId, 'grace')))
  await turn()
  t.notOk(taken.isOver, 'another account')
  bus.lose(topic)
  t.same(await taken.result, { ok: false, why: 'callee-gone' })

  far.hub.detach(there)
  const here = await register(near)
  const local = await begin()
  bus.lose()
  await turn()
  t.notOk(local.isOver, 'its callee is at this instance')
  here.answer('done')
  t.same(await local.result, { ok: true, value: 'done' })

  near.hub.unregister(here, method)
  const waits = await begin()
  bus.lose()
  t.same(await waits.result, { ok: false, why: 'callee-gone' }, 'perhaps it runs')
})

t.test('a single instance asks nobody whether it runs', async t => {
  const clock = manualClock()
  const onError = (error: unknown) => t.error(error)
  const bus = openLocalBus({ onError })
  const published: string[] = []
  const publish: typeof bus.publish = (topic, event) => {
    published.push(event.type)
    bus.publish(topic, event)
  }
  const heard = { ...bus, publish }
  const hub = await Hub.open({ bus: heard, store: emptyStore, clock, newId: randomUUID, onError }, 'only')
  const calls = await createCalls({ bus: heard, clock, newId: randomUUID, metrics, onError }, 'only')
  t.teardown(() => hub.close())
  t.teardown(() => calls.close())
  const callee = new Ear()
  await hub.attach(callee)
  hub.register(callee, method)
  const call = calls.call(caller, { method, params: 'x', from: undefined, signal: new AbortController().signal })
  await turn()
  clock.advance(10 * seconds)
  callee.answer('done')
  await call
  t.same(published, ['callee-here', 'call', 'call-taken', 'call-answered'])
})
