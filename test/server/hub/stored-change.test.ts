import t, { type Test } from 'tap'
import type { Change, StoredChange } from '../../../lib/bus/bus.ts'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { readChange } from '../../../lib/server/hub/stored-change.ts'
import { openStore } from '../../../lib/store/open.ts'
import type { Store } from '../../../lib/store/store.ts'
import { draft, found, machineId, newAccount, newMachine, newSession, sealed, sessionId } from '../../store/contract/kit.ts'

const machine = machineId('laptop')
const artifact = v.parse(ids.artifactId, 'notes')
const key = (text: string) => v.parse(ids.kvKey, text)

async function openWorld(t: Test) {
  const store = await openStore('sqlite:afield.db', { dataDirectory: t.testdir(), onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  const account = await newAccount(store, 'ada')
  const session = await newSession(store, account, 'one')
  await newMachine(store, account, machine)
  const parts = { header: sealed('a header'), body: sealed('a body'), dataKey: sealed('a key'), now: 1 }
  await store.openArtifact(account, { id: artifact, ...parts })
  return { store, account, session, read: (stored: StoredChange) => readChange(store, account, stored) }
}

async function append(store: Store, account: AccountId, session: Parameters<Store['appendMessages']>[1], count: number) {
  const drafts = Array.from({ length: count }, (_, index) => draft(`${index + 1}`))
  return found(await store.appendMessages(account, session, drafts, 1)).messages
}

t.test('a change by reference is the row, cell or messages that the store has', async t => {
  const { store, account, session, read } = await openWorld(t)
  const messages = await append(store, account, session, 5)
  await store.mutateKv(account, [{ key: key('kept'), value: sealed('a value'), version: -1 }], 1)
  await store.writeCell(account, { of: 'account', name: 'settings' }, 0, sealed('settings'), 1)
  await store.writeCell(account, { of: 'session', id: session, name: 'metadata' }, 0, sealed('a new title'), 1)
  await store.writeCell(account, { of: 'machine', id: machine, name: 'daemonState' }, 1, sealed('busy'), 1)
  const header = { version: 1, value: sealed('a header') }
  const body = { version: 1, value: sealed('a body') }
  const table: [stored: StoredChange, change: Change | object][] = [
    [
      { type: 'session-opened', session },
      { type: 'session-opened', session: found(await store.findSession(account, session)) }
    ],
    [
      { type: 'machine-opened', machine },
      { type: 'machine-opened', machine: found(await store.findMachine(account, machine)) }
    ],
    [
      { type: 'artifact-opened', artifact },
      { type: 'artifact-opened', artifact: found(await store.findArtifact(account, artifact)) }
    ],
    [
      { type: 'artifact-written', artifact, parts: ['header'] },
      { type: 'artifact-written', id: artifact, header }
    ],
    [
      { type: 'artifact-written', artifact, parts: ['body'] },
      { type: 'artifact-written', id: artifact, body }
    ],
    [
      { type: 'artifact-written', artifact, parts: ['body', 'header'] },
      { type: 'artifact-written', id: artifact, header, body }
    ],
    [
      {
        type: 'kv-written',
        keys: [
          { key: key('removed'), version: 4 },
          { key: key('kept'), version: 0 }
        ]
      },
      {
        type: 'kv-written',
        changes: [
          { key: 'removed', value: null, version: 4 },
          { key: 'kept', value: 'a value', version: 0 }
        ]
      }
    ],
    [
      { type: 'cell-written', cell: { of: 'account', name: 'settings' } },
      { type: 'cell-written', cell: { of: 'account', name: 'settings' }, now: { version: 1, value: 'settings' } }
    ],
    [
      { type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' } },
      { type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' }, now: { version: 1, value: 'a new title' } }
    ],
    [
      { type: 'cell-written', cell: { of: 'session', id: session, name: 'agentState' } },
      { type: 'cell-written', cell: { of: 'session', id: session, name: 'agentState' }, now: { version: 0, value: null } }
    ],
    [
      { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'metadata' } },
      { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'metadata' }, now: { version: 1, value: 'a laptop' } }
    ],
    [
      { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'daemonState' } },
      { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'daemonState' }, now: { version: 2, value: 'busy' } }
    ],
    [
      { type: 'messages-added', session, first: 2, last: 4 },
      { type: 'messages-added', session, messages: messages.slice(1, 4) }
    ],
    [
      { type: 'messages-added', session, first: 5, last: 5 },
      { type: 'messages-added', session, messages: messages.slice(4) }
    ]
  ]
  for (const [stored, change] of table) t.strictSame(await read(stored), change, JSON.stringify(stored))
})

t.test('of rows that are gone there is no change', async t => {
  const { read } = await openWorld(t)
  const session = sessionId('gone')
  const machine = machineId('gone')
  const artifact = v.parse(ids.artifactId, 'gone')
  const all: StoredChange[] = [
    { type: 'session-opened', session },
    { type: 'machine-opened', machine },
    { type: 'artifact-opened', artifact },
    { type: 'artifact-written', artifact, parts: ['header'] },
    { type: 'cell-written', cell: { of: 'session', id: session, name: 'metadata' } },
    { type: 'cell-written', cell: { of: 'machine', id: machine, name: 'metadata' } },
    { type: 'messages-added', session, first: 1, last: 2 }
  ]
  for (const stored of all) t.equal(await read(stored), undefined, JSON.stringify(stored))
})

t.test('messages by reference are read in as many pages as they take, and no more than exist', async t => {
  const { store, account, session } = await openWorld(t)
  const messages = await append(store, account, session, 6)
  const asked: unknown[] = []
  const inPages: Pick<Store, 'readMessages'> = {
    async readMessages(account, session, page) {
      asked.push(page)
      return store.readMessages(account, session, { ...page, limit: Math.min(page.limit, 2) })
    }
  }
  const paged = new Proxy(store, { get: (of, name) => Reflect.get(name === 'readMessages' ? inPages : of, name) })
  const read = (first: number, last: number) => readChange(paged, account, { type: 'messages-added', session, first, last })
  t.same(await read(2, 4), { type: 'messages-added', session, messages: messages.slice(1, 4) })
  t.same(asked, [
    { after: 1, limit: 3 },
    { after: 3, limit: 1 }
  ])
  t.same(await read(5, 9), { type: 'messages-added', session, messages: messages.slice(4) }, 'the others are gone')
})
