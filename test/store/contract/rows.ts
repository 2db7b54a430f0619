import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { Check } from '../../contracts/check.ts'
import { draft, found, machineId, newAccount, newMachine, newSession, openFor, readAll, type StorePlace, sealed, sessionId } from './kit.ts'

export function rowContract(t: Check, place: StorePlace): void {
  t.test('a tag names one session, which a repeat returns unchanged', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const ask = { tag: 'tag', metadata: sealed('m'), agentState: sealed('a'), dataKey: sealed('k'), now: 5 }
    const [first, second] = await Promise.all([
      store.openSession(ann, { id: sessionId('s1'), ...ask }),
      store.openSession(ann, { ...ask, id: sessionId('s2'), metadata: sealed('other'), agentState: null, now: 9 })
    ])
    const session = {
      id: 's1',
      metadata: { version: 0, value: 'm' },
      agentState: { version: 0, value: 'a' },
      dataKey: 'k',
      lastSeq: 0,
      deliveredSeq: 0,
      readSeq: 0,
      active: true,
      activeAt: 5,
      createdAt: 5,
      updatedAt: 5
    }
    t.same(first, { session, created: true, clock: 1 })
    t.same(second, { session, created: false, clock: 1 })
    t.same(await store.findSession(ann, sessionId('s1')), session)
  })

  t.test('the longest names that clients may choose, in any script, are found again and told apart', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    // No compression makes these short: an index that holds whole texts may not take them.
    const long = (length: number, last: string) =>
      Array.from({ length: length - 1 }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7919) % 20_000))).join('') + last
    for (const [index, last] of ['a', 'b'].entries()) {
      const session = { tag: long(1024, last), metadata: sealed('m'), agentState: null, dataKey: null, now: 5 }
      t.match(await store.openSession(ann, { id: sessionId(`new ${last}`), ...session }), { created: true })
      t.match(await store.openSession(ann, { id: sessionId('late'), ...session }), { created: false, session: { id: `new ${last}` } })
      const key = v.parse(ids.kvKey, long(1024, last))
      t.match(await store.mutateKv(ann, [{ key, value: sealed(last), version: -1 }], 5), { written: true })
      t.match(await store.mutateKv(ann, [{ key, value: sealed(`${last}2`), version: 0 }], 6), { written: true })
      t.same(await store.readKv(ann, [key]), [{ key, value: `${last}2`, version: 1 }])
      for (const now of [5, 6]) await store.addPushToken(ann, { id: `${last}${now}`, token: long(4096, last), now })
      t.equal((await store.listPushTokens(ann)).length, index + 1)
    }
    t.equal((await store.listKv(ann, { prefix: long(1024, '').slice(0, 700), limit: 10 })).length, 2)
    await store.removePushToken(ann, long(4096, 'a'))
    t.match(await store.listPushTokens(ann), [{ token: long(4096, 'b') }])
  })

  t.test('sessions are listed by their last change, newest first', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const [one, two, three] = [await newSession(store, ann), await newSession(store, ann), await newSession(store, ann)]
    await store.appendMessages(ann, one, [draft('hello')], 20)
    await store.writeCell(ann, { of: 'session', id: two, name: 'metadata' }, 0, sealed('new'), 10)
    const listed = async (limit: number) => (await store.listSessions(ann, limit)).map(({ id }) => id)
    t.same(await listed(10), [one, two, three])
    t.same(await listed(2), [one, two])
  })

  t.test('a machine is found or created under its own id, at its first versions', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const ask = { id: machineId('laptop'), metadata: sealed('m'), daemonState: sealed('d'), dataKey: null, now: 5 }
    const machine = {
      id: 'laptop',
      metadata: { version: 1, value: 'm' },
      daemonState: { version: 1, value: 'd' },
      dataKey: null,
      active: false,
      activeAt: 5,
      createdAt: 5,
      updatedAt: 5
    }
    t.same(await store.openMachine(ann, ask), { machine, created: true, clock: 2 })
    t.same(await store.openMachine(ann, { ...ask, metadata: sealed('other') }), { machine, created: false, clock: 2 })
    t.match(await store.openMachine(ann, { ...ask, id: machineId('desk'), daemonState: null }), {
      machine: { daemonState: { version: 0, value: null } },
      clock: 4
    })
    await store.markActive([{ account: ann, row: { of: 'machine', id: ask.id }, active: true, at: 50 }])
    t.same(
      (await store.listMachines(ann)).map(({ id }) => id),
      ['laptop', 'desk']
    )
    t.match(await store.findMachine(ann, ask.id), { ...machine, active: true, activeAt: 50 })
  })

  t.test('removing a session removes its messages, removing a machine keeps its sessions', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann, 'tag')
    await newMachine(store, ann, machineId('laptop'))
    await store.appendMessages(ann, session, [draft('hello', 'first')], 2)

    t.same(await store.remove(ann, { of: 'machine', id: machineId('laptop') }), { clock: 5 })
    t.equal((await store.listSessions(ann, 10)).length, 1)
    t.same(await store.remove(ann, { of: 'session', id: session }), { clock: 6 })
    t.equal(await store.remove(ann, { of: 'session', id: session }), 'missing')
    t.equal(await store.readMessages(ann, session, { after: 0, limit: 1 }), 'missing')
    t.equal(await store.findSession(ann, session), 'missing')
    t.equal(await store.findMachine(ann, machineId('laptop')), 'missing')

    const next = await newSession(store, ann, 'tag')
    t.same(await readAll(store, ann, next), [])
    t.equal(found(await store.appendMessages(ann, next, [draft('again', 'first')], 3)).added[0]?.seq, 1)
  })

  t.test('presence stores the latest keepalive, does not advance the clock, and ends with silence', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    await newMachine(store, ann, machineId('laptop'))
    const row = { of: 'session' as const, id: session }
    const mark = (active: boolean, at: number) => store.markActive([{ account: ann, row, active, at }])

    await store.markActive([
      { account: ann, row, active: true, at: 100.7 },
      { account: ann, row: { of: 'machine', id: machineId('laptop') }, active: true, at: 300 },
      { account: ann, row: { of: 'session', id: sessionId('nowhere') }, active: true, at: 300 }
    ])
    await mark(true, 90)
    t.match(await store.findSession(ann, session), { active: true, activeAt: 100 })
    t.same(await store.sweepActive(100), [])
    t.same(await store.sweepActive(101), [{ account: ann, row, activeAt: 100 }])
    t.same(await store.sweepActive(101), [])
    t.match(await store.findSession(ann, session), { active: false, activeAt: 100 })
    await mark(true, 400)
    t.same(await store.sweepActive(350), [{ account: ann, row: { of: 'machine', id: 'laptop' }, activeAt: 300 }])
    await mark(false, 401)
    t.same(await store.sweepActive(1000), [])
    t.equal(found(await store.appendMessages(ann, session, [draft('x')], 1)).clock, 4)
  })

  t.test('a push token is stored once per account', async t => {
    const store = await openFor(t, place)
    const [ann, bob] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
    await store.addPushToken(ann, { id: 'p1', token: 'expo', now: 1 })
    await store.addPushToken(ann, { id: 'p2', token: 'expo', now: 2 })
    await store.addPushToken(bob, { id: 'p3', token: 'expo', now: 3 })
    t.same(await store.listPushTokens(ann), [{ id: 'p1', token: 'expo', createdAt: 1, updatedAt: 2 }])
    await store.removePushToken(ann, 'expo')
    t.same(await store.listPushTokens(ann), [])
    t.equal((await store.listPushTokens(bob)).length, 1)
  })
}
