import type { AccountId, DeviceId, SessionId, TokenId } from '../../../lib/protocol/wire/ids.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import {
  deviceId,
  draft,
  found,
  machineId,
  newAccount,
  newMachine,
  newSession,
  openFor,
  readAll,
  type StorePlace,
  sealed,
  sessionId,
  tokenDraft,
  tokenId
} from './kit.ts'

interface Named {
  session: SessionId
  machine: ReturnType<typeof machineId>
  token: TokenId
  device: DeviceId
}

/** Every method that names a row of an account, asked with ids that are not the caller's. */
const questions: Record<string, (store: Store, caller: AccountId, named: Named) => Promise<unknown>> = {
  revokeToken: (store, caller, { token }) => store.revokeToken(caller, token),
  findDeviceOf: (store, caller, { token }) => store.findDeviceOf(caller, token),
  renameDevice: (store, caller, { device }) => store.renameDevice(caller, device, 'mine'),
  removeDevice: (store, caller, { device }) => store.removeDevice(caller, device),
  findSession: (store, caller, { session }) => store.findSession(caller, session),
  findMachine: (store, caller, { machine }) => store.findMachine(caller, machine),
  'remove a session': (store, caller, { session }) => store.remove(caller, { of: 'session', id: session }),
  'remove a machine': (store, caller, { machine }) => store.remove(caller, { of: 'machine', id: machine }),
  'write metadata': (store, caller, { session: id }) =>
    store.writeCell(caller, { of: 'session', id, name: 'metadata' }, 0, sealed('mine'), 9),
  'write agent state': (store, caller, { session: id }) => store.writeCell(caller, { of: 'session', id, name: 'agentState' }, 0, null, 9),
  'conflict on metadata': (store, caller, { session: id }) => store.writeCell(caller, { of: 'session', id, name: 'metadata' }, 8, null, 9),
  'write machine metadata': (store, caller, { machine: id }) =>
    store.writeCell(caller, { of: 'machine', id, name: 'metadata' }, 1, null, 9),
  'write daemon state': (store, caller, { machine: id }) => store.writeCell(caller, { of: 'machine', id, name: 'daemonState' }, 1, null, 9),
  'conflict on daemon state': (store, caller, { machine: id }) =>
    store.writeCell(caller, { of: 'machine', id, name: 'daemonState' }, 8, null, 9),
  appendMessages: (store, caller, { session }) => store.appendMessages(caller, session, [draft('mine')], 9),
  readMessages: (store, caller, { session }) => store.readMessages(caller, session, { after: 0, limit: 10 }),
  'readMessages backwards': (store, caller, { session }) => store.readMessages(caller, session, { before: 100, limit: 10 })
}

export function isolationContract(t: Check, place: StorePlace): void {
  t.test('an id of another account is answered like a missing one, and changes nothing [I1] [I3]', async t => {
    const store = await openFor(t, place)
    const [ann, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'eve')]
    const named = {
      session: await newSession(store, ann),
      machine: machineId('laptop'),
      token: await firstToken(store, ann),
      device: await firstDevice(store, ann)
    }
    const nowhere = { session: sessionId('nowhere'), machine: machineId('nowhere'), token: tokenId('nowhere'), device: deviceId('nowhere') }
    await newMachine(store, ann, named.machine)
    await store.appendMessages(ann, named.session, [draft('secret')], 2)
    const before = await everythingOf(store, ann, named.session)

    for (const [name, ask] of Object.entries(questions)) {
      t.equal(await ask(store, eve, named), 'missing', name)
      t.equal(await ask(store, eve, nowhere), 'missing', name)
      t.same(await everythingOf(store, ann, named.session), before, `${name} changed nothing`)
    }
    await store.markActive([
      { account: eve, row: { of: 'session', id: named.session }, active: false, at: 99 },
      { account: eve, row: { of: 'machine', id: named.machine }, active: true, at: 99 }
    ])
    await store.removePushToken(eve, 'of ann')
    t.same(await everythingOf(store, ann, named.session), before, 'presence and push tokens')
    t.same([await store.listSessions(eve, 10), await store.listMachines(eve), await store.listPushTokens(eve)], [[], [], []])
    t.equal((await store.listDevices(eve)).length, 1)
  })

  t.test('two accounts may use the same tag, machine id and session id [I3]', async t => {
    const store = await openFor(t, place)
    const accounts = [await newAccount(store, 'ann'), await newAccount(store, 'bob')] as const
    for (const account of accounts) {
      const mine = sealed(`of ${account}`)
      const session = { id: sessionId('s'), tag: 'tag', metadata: mine, agentState: null, dataKey: null, now: 1 }
      t.match(await store.openSession(account, session), { created: true, clock: 1 })
      t.match(await store.openMachine(account, { id: machineId('m'), metadata: mine, daemonState: null, dataKey: null, now: 1 }), {
        created: true
      })
      await store.appendMessages(account, sessionId('s'), [draft(mine, 'first')], 1)
      await store.writeCell(account, { of: 'machine', id: machineId('m'), name: 'metadata' }, 1, mine, 1)
      await store.writeCell(account, { of: 'account', name: 'settings' }, 0, mine, 1)
    }
    for (const account of accounts) {
      const mine = `of ${account}`
      t.same(
        (await readAll(store, account, sessionId('s'))).map(({ sealed }) => sealed),
        [mine]
      )
      t.equal(found(await store.findMachine(account, machineId('m'))).metadata.value, mine)
      t.same(await store.readSettings(account), { version: 1, value: mine })
    }
    await store.remove(accounts[0], { of: 'session', id: sessionId('s') })
    t.equal((await readAll(store, accounts[1], sessionId('s'))).length, 1)
  })
}

async function firstToken(store: Store, account: AccountId): Promise<TokenId> {
  await store.addPushToken(account, { id: 'p', token: 'of ann', now: 1 })
  const token = tokenDraft('named')
  await store.addToken(account, token)
  return token.id
}

async function firstDevice(store: Store, account: AccountId): Promise<DeviceId> {
  const [device] = await store.listDevices(account)
  if (!device) throw new Error('no device')
  return device.id
}

async function everythingOf(store: Store, account: AccountId, session: SessionId): Promise<unknown> {
  return {
    sessions: await store.listSessions(account, 100),
    machines: await store.listMachines(account),
    messages: await readAll(store, account, session),
    tokens: await store.listTokens(account),
    devices: await store.listDevices(account),
    pushTokens: await store.listPushTokens(account),
    settings: await store.readSettings(account)
  }
}
