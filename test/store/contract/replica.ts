import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { Changes } from '../../../lib/store/changes.ts'
import type { RemovableRef } from '../../../lib/store/rows.ts'
import type { Store } from '../../../lib/store/store.ts'
import { draft, machineId, newMachine, sealed, sessionId } from './kit.ts'

const kvKey = (text: string) => v.parse(ids.kvKey, text)
const artifactId = (text: string) => v.parse(ids.artifactId, text)

/** A client that knows the account by its changes alone. */
export class Replica {
  startedOver = 0
  /** The keys that each page brought. */
  readonly pages: string[][] = []
  readonly #store: Store
  readonly #account: AccountId
  readonly #byName = new Map<string, unknown>()
  #epoch: string | undefined
  #since = 0

  constructor(store: Store, account: AccountId) {
    this.#store = store
    this.#account = account
  }

  async read(limit: number): Promise<void> {
    let began: number | undefined
    for (let more = true; more; ) {
      const changes = await this.#store.changesSince(this.#account, { epoch: this.#epoch, since: this.#since, began, limit })
      this.#epoch = changes.epoch
      if (changes.complete) {
        this.#take(changes)
        this.#since = changes.clock
        began = changes.began
        more = changes.more
      } else {
        this.startedOver += 1
        this.#byName.clear()
        this.#since = 0
        began = undefined
      }
    }
  }

  /** As after a failure that lost the last answers. */
  forgetEpoch(): void {
    this.#epoch = undefined
  }

  rows(): unknown {
    return Object.fromEntries([...this.#byName].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }

  #take({ removed, sessions, machines, settings, artifacts, kv }: Changes): void {
    for (const { of, id } of removed) this.#byName.delete(`${of} ${id}`)
    for (const row of sessions) this.#byName.set(`session ${row.id}`, row)
    for (const row of machines) this.#byName.set(`machine ${row.id}`, row)
    for (const row of artifacts) this.#byName.set(`artifact ${row.id}`, row)
    if (settings) this.#byName.set('settings', settings)
    for (const { key, value, version } of kv) {
      if (value === null) this.#byName.delete(`kv ${key}`)
      else this.#byName.set(`kv ${key}`, { key, value, version })
    }
    this.pages.push(kv.map(({ key }) => key).toSorted())
  }
}

/** What a replica should hold, from the lists of the store. */
export async function everythingOf(store: Store, account: AccountId): Promise<unknown> {
  const settings = await store.readSettings(account)
  const entries: [string, unknown][] = [
    ...(await store.listSessions(account, 500)).map(row => [`session ${row.id}`, row] as [string, unknown]),
    ...(await store.listMachines(account)).map(row => [`machine ${row.id}`, row] as [string, unknown]),
    ...(await store.listArtifacts(account, 500)).map(row => [`artifact ${row.id}`, row] as [string, unknown]),
    ...(await store.listKv(account, { prefix: '', limit: 500 })).map(row => [`kv ${row.key}`, row] as [string, unknown])
  ]
  if (settings.version > 0) entries.push(['settings', settings])
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Something done to an account, or by its replica. */
export type Step = (store: Store, account: AccountId, replica: Replica) => Promise<unknown>

/** A replica reads, in small pages, or begins anew. */
export const read: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.integer({ min: 1, max: 4 }).map(
      (limit): Step =>
        (_store, _account, replica) =>
          replica.read(limit)
    )
  },
  { weight: 1, arbitrary: fc.constant<Step>(async (_store, _account, replica) => replica.forgetEpoch()) }
)
const name = fc.constantFrom('one', 'two', 'three')
/** Anything that changes an account. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  name.map(openSession),
  name.map(
    (name): Step =>
      (store, account) =>
        newMachine(store, account, machineId(name))
  ),
  name.map(openArtifact),
  fc.constantFrom<RemovableRef['of']>('session', 'machine', 'artifact').chain(of => name.map(name => remove(of, name))),
  fc.record({ name, count: fc.nat(2) }).map(append),
  fc.record({ name, readSeq: fc.nat(3) }).map(mark),
  fc.record({ of: fc.constantFrom('session' as const, 'machine' as const), name }).map(writeMetadata),
  fc.nat(3).map(
    (version): Step =>
      (store, account) =>
        store.writeCell(account, settingsRef, version, sealed(`over ${version}`), 5)
  ),
  fc.record({ name, version: fc.integer({ min: 1, max: 3 }) }).map(writeArtifact),
  fc.record({ names: fc.uniqueArray(name, { minLength: 1 }), gone: fc.boolean() }).map(writeKeys)
)
const settingsRef = { of: 'account', name: 'settings' } as const

function openSession(name: string): Step {
  const draft = { tag: name, metadata: sealed('m'), agentState: null, dataKey: null, now: 1 }
  return (store, account) => store.openSession(account, { id: sessionId(randomUUID()), ...draft })
}

async function sessionNamed(store: Store, account: AccountId, name: string): Promise<ids.SessionId> {
  const sessions = await store.listSessions(account, 10)
  return sessions[name.length % Math.max(1, sessions.length)]?.id ?? sessionId('none')
}

function openArtifact(name: string): Step {
  const draft = { id: artifactId(name), header: sealed('h'), body: sealed('b'), dataKey: sealed('k'), now: 1 }
  return (store, account) => store.openArtifact(account, draft)
}

function writeArtifact({ name, version }: { name: string; version: number }): Step {
  const header = { expected: version, value: sealed(`over ${version}`) }
  return (store, account) => store.writeArtifact(account, artifactId(name), { header }, 4)
}

function remove(of: RemovableRef['of'], name: string): Step {
  return async (store, account) => {
    const id = of === 'session' ? await sessionNamed(store, account, name) : name
    return store.remove(account, { of, id } as RemovableRef)
  }
}

function append({ name, count }: { name: string; count: number }): Step {
  const drafts = Array.from({ length: count }, () => draft('hello'))
  return async (store, account) => store.appendMessages(account, await sessionNamed(store, account, name), drafts, 3)
}

function mark({ name, readSeq }: { name: string; readSeq: number }): Step {
  return async (store, account) => store.markReceipts(account, await sessionNamed(store, account, name), { readSeq })
}

function writeMetadata({ of, name }: { of: 'session' | 'machine'; name: string }): Step {
  return async (store, account) => {
    const id = of === 'session' ? await sessionNamed(store, account, name) : machineId(name)
    const cell = { of, id, name: 'metadata' } as Parameters<Store['writeCell']>[1]
    const now = await store.writeCell(account, cell, -1, sealed('x'), 2)
    if (now !== 'missing' && !now.written)
      await store.writeCell(account, cell, now.current.version, sealed(`over ${now.current.version}`), 2)
  }
}

function writeKeys({ names, gone }: { names: string[]; gone: boolean }): Step {
  return async (store, account) => {
    const change = (name: string, version: number) => ({ key: kvKey(name), value: gone ? null : sealed(`over ${version}`), version })
    const tried = await store.mutateKv(
      account,
      names.map(name => change(name, -1)),
      6
    )
    if (!tried.written) {
      const versions = new Map(tried.conflicts.map(({ key, version }) => [String(key), version]))
      await store.mutateKv(
        account,
        names.map(name => change(name, versions.get(name) ?? -1)),
        6
      )
    }
  }
}
