import type { Check } from '../../contracts/check.ts'
import { found, machineId, newAccount, newMachine, newSession, openFor, type StorePlace, sealed, sessionId } from './kit.ts'

const machine = machineId('laptop')

export function accessKeyContract(t: Check, place: StorePlace): void {
  t.test('an access key is created once for a session on a machine, and its version increments [X4]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const of = { session: await newSession(store, ann), machine }
    await newMachine(store, ann, machine)
    t.equal(await store.findAccessKey(ann, of), 'none')
    t.equal(await store.writeAccessKey(ann, of, 1, sealed('x'), 4), 'none')
    const first = { data: 'one', dataVersion: 1, createdAt: 5, updatedAt: 5 }
    t.same(await store.addAccessKey(ann, of, sealed('one'), 5), first)
    t.equal(await store.addAccessKey(ann, of, sealed('two'), 6), 'taken')
    t.same(await store.findAccessKey(ann, of), first)
    for (let version = 1; version < 5; version += 1) {
      const outcomes = await Promise.all([0, 1, 2].map(writer => store.writeAccessKey(ann, of, version, sealed(`${version}.${writer}`), 7)))
      t.same(outcomes, [
        { written: true, version: version + 1 },
        { written: false, current: { version: version + 1, value: `${version}.0` } },
        { written: false, current: { version: version + 1, value: `${version}.0` } }
      ])
    }
    t.same(await store.findAccessKey(ann, of), { data: '4.0', dataVersion: 5, createdAt: 5, updatedAt: 7 })
  })

  t.test('it is removed with its session and with its machine', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    await newMachine(store, ann, machine)
    const [first, second] = [await newSession(store, ann, 'first'), await newSession(store, ann, 'second')]
    for (const session of [first, second]) found(await store.addAccessKey(ann, { session, machine }, sealed('x'), 1))

    await store.remove(ann, { of: 'session', id: first })
    t.equal(await store.findAccessKey(ann, { session: first, machine }), 'missing')
    t.match(await store.findAccessKey(ann, { session: second, machine }), { data: 'x' })
    await store.remove(ann, { of: 'machine', id: machine })
    t.equal(await store.findAccessKey(ann, { session: second, machine }), 'missing')
    await newMachine(store, ann, machine)
    t.equal(await store.findAccessKey(ann, { session: second, machine }), 'none')
  })

  t.test('a session or machine of another account is missing, whichever of the two is foreign [I1]', async t => {
    const store = await openFor(t, place)
    const [ann, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'eve')]
    const [hers, own] = [await newSession(store, ann), await newSession(store, eve)]
    await newMachine(store, ann, machine)
    await newMachine(store, eve, machineId('own'))
    const key = found(await store.addAccessKey(ann, { session: hers, machine }, sealed('secret'), 1))
    const places = [
      { session: hers, machine },
      { session: hers, machine: machineId('own') },
      { session: own, machine },
      { session: sessionId('nowhere'), machine: machineId('own') },
      { session: own, machine: machineId('nowhere') }
    ]
    for (const named of places) {
      t.equal(await store.findAccessKey(eve, named), 'missing')
      t.equal(await store.addAccessKey(eve, named, sealed('evil'), 2), 'missing')
      t.equal(await store.writeAccessKey(eve, named, 1, sealed('evil'), 2), 'missing')
    }
    t.same(await store.findAccessKey(ann, { session: hers, machine }), key)

    // Machines are named by themselves: the same name is another machine, with another key.
    await newMachine(store, eve, machine)
    t.equal(await store.findAccessKey(eve, { session: own, machine }), 'none')
    await store.addAccessKey(eve, { session: own, machine }, sealed('of eve'), 3)
    await store.remove(eve, { of: 'machine', id: machine })
    t.same(await store.findAccessKey(ann, { session: hers, machine }), key)
  })
}
