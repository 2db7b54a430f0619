import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checksumOf } from '../../lib/store/checksum.ts'
import type {
  HappyAccessKey,
  HappyAccount,
  HappyArtifact,
  HappyDatabase,
  HappyMachine,
  HappyMessage,
  HappyPushToken,
  HappySession,
  HappyUsage,
  HappyValue
} from '../../lib/store/happy.ts'
import { emptyTransfer, type Transfer, type TransferRow, transferRows, transferTable, transferTables } from '../../lib/store/transfer.ts'
import { type ImportDeps, importAccounts } from '../../lib/transfer/happy.ts'
import { openSqliteTransfer } from '../../sqlite/transfer.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
import { sha256 } from '../store/contract/kit.ts'

interface Session extends Partial<HappySession> {
  messages?: Partial<HappyMessage>[]
}
interface Account extends Partial<HappyAccount> {
  sessions?: Session[]
  machines?: Partial<HappyMachine>[]
  artifacts?: Partial<HappyArtifact>[]
  accessKeys?: Partial<HappyAccessKey>[]
  values?: Partial<HappyValue>[]
  usage?: Partial<HappyUsage>[]
  pushTokens?: Partial<HappyPushToken>[]
}

const times = { activeAt: 30, createdAt: 10, updatedAt: 20 }
const sealedText = { t: 'encrypted', c: 'c2VhbGVk' }
const keyOf = (id: string) => Buffer.from(sha256(id), 'base64url').toString('hex')

/** A Happy server with these accounts; what a test does not name is valid. */
function happyWith(accounts: Account[]): HappyDatabase {
  const accountOf = (id: string) => accounts.find(account => account.id === id)
  const messages = new Map(accounts.flatMap(({ sessions = [] }) => sessions.map(session => [session.id, session.messages ?? []])))
  const rows =
    <Row>(of: (account: Account) => Partial<Row>[] | undefined, defaults: Row) =>
    (account: string) =>
      each((of(accountOf(account) ?? {}) ?? []).map(row => ({ ...defaults, ...row }))) as AsyncIterable<Row>
  const bytes = Buffer.of(1, 2)
  return {
    others: 0,
    async *accounts() {
      for (const { id = '', publicKey = keyOf(id), ...account } of accounts)
        yield { seq: 0, settings: null, settingsVersion: 0, createdAt: 10, ...account, id, publicKey }
    },
    sessions: rows<HappySession>(({ sessions }) => sessions?.map(session => ({ tag: `tag of ${session.id}`, ...session })), {
      ...{ id: 's', tag: 'tag', metadata: 'm', metadataVersion: 1, agentState: null, agentStateVersion: 0, dataKey: null, seq: 0, ...times }
    }),
    async *messages(session) {
      let seq = 0
      for (const message of messages.get(session) ?? [])
        yield { id: `message ${++seq}`, seq, localId: null, content: sealedText, createdAt: 11, ...message }
    },
    machines: rows<HappyMachine>(({ machines }) => machines, {
      ...{ id: 'm', metadata: 'm', metadataVersion: 1, daemonState: null, daemonStateVersion: 0, dataKey: null, ...times }
    }),
    artifacts: rows<HappyArtifact>(({ artifacts }) => artifacts, {
      ...{ id: 'a', header: bytes, headerVersion: 1, body: bytes, bodyVersion: 1, dataKey: bytes, seq: 0, createdAt: 10, updatedAt: 20 }
    }),
    accessKeys: rows<HappyAccessKey>(({ accessKeys }) => accessKeys, {
      ...{ sessionId: 's', machineId: 'm', data: 'd', dataVersion: 1, createdAt: 10, updatedAt: 20 }
    }),
    values: rows<HappyValue>(({ values }) => values, { key: 'k', value: bytes, version: 1, updatedAt: 20 }),
    usage: rows<HappyUsage>(({ usage }) => usage, {
      ...{ key: 'claude', sessionId: null, data: { tokens: {}, cost: {} }, createdAt: 10, updatedAt: 20 }
    }),
    pushTokens: rows<HappyPushToken>(({ pushTokens }) => pushTokens, { token: 'ExponentPushToken[x]', createdAt: 10, updatedAt: 20 }),
    async close() {}
  }
}

async function* each<Row>(rows: Row[]) {
  yield* rows
}

async function emptyStore(t: Test): Promise<Transfer> {
  const data = memoryFolder(t)
  const transfer = await openSqliteTransfer(join(data, 'afield.db'), data)
  t.teardown(() => transfer.close())
  return transfer
}

function run(to: Transfer, accounts: Account[], more: Partial<ImportDeps> = {}) {
  const { signal } = new AbortController()
  return importAccounts({ from: happyWith(accounts), to, bucket: undefined, isCheck: false, owner: undefined, tell() {}, signal, ...more })
}

const rowsOf = (store: Transfer, table: string): Promise<TransferRow[]> => Array.fromAsync(transferRows(store, transferTable(table)))

/** One of everything. */
const ann: Account = {
  ...{ id: 'ann', publicKey: keyOf('ann'), seq: 40, settings: 'sealed settings', settingsVersion: 3, createdAt: 1 },
  sessions: [
    {
      ...{ id: 'one', tag: 'tag of one', metadata: 'metadata', metadataVersion: 4, agentState: 'state', agentStateVersion: 5 },
      ...{ dataKey: Buffer.from('key'), seq: 6, activeAt: 103, createdAt: 101, updatedAt: 102 },
      messages: [{ seq: 2, localId: 'local', createdAt: 104 }, { seq: 4 }]
    },
    { id: 'two', tag: 'tag of two' }
  ],
  machines: [
    {
      ...{ id: 'laptop', metadata: 'metadata', metadataVersion: 7, daemonState: 'state', daemonStateVersion: 8 },
      ...{ dataKey: Buffer.from('key'), activeAt: 203, createdAt: 201, updatedAt: 202 }
    }
  ],
  artifacts: [
    {
      ...{ id: 'note', header: Buffer.from('header'), headerVersion: 9, body: Buffer.from('the body'), bodyVersion: 10 },
      ...{ dataKey: Buffer.from('key'), seq: 11, createdAt: 301, updatedAt: 302 }
    }
  ],
  accessKeys: [{ sessionId: 'one', machineId: 'laptop', data: 'sealed', dataVersion: 12, createdAt: 401, updatedAt: 402 }],
  values: [
    { key: 'there', value: Buffer.from('value'), version: 13, updatedAt: 501 },
    { key: 'gone', value: null, version: 14, updatedAt: 502 }
  ],
  usage: [
    { key: 'claude', sessionId: 'one', data: { tokens: { total: 5 }, cost: { total: 0.5 } }, createdAt: 601, updatedAt: 602 },
    { key: 'claude', sessionId: null, data: { tokens: { total: 7 }, cost: {} }, createdAt: 603, updatedAt: 604 }
  ],
  pushTokens: [{ token: 'ExponentPushToken[x]', createdAt: 701, updatedAt: 702 }]
}

t.test('everything of an account is stored sealed as it was, with its numbers, versions and times', async t => {
  const store = await emptyStore(t)
  const { counts, remarks } = await run(store, [ann])
  t.same(remarks, ['Account ann, the oldest, becomes the owner of this server; choose another with --owner.'])
  t.same(
    Object.entries(counts).map(([kind, { imported, leftOut }]) => [kind, imported, leftOut]),
    [
      ['accounts', 1, 0],
      ['sessions', 2, 0],
      ['messages', 2, 0],
      ['machines', 1, 0],
      ['artifacts', 1, 0],
      ['access keys', 1, 0],
      ['values', 2, 0],
      ['usage reports', 2, 0],
      ['push tokens', 1, 0],
      ['attachments', 0, 0]
    ]
  )
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const artifactBytes = base64('header').length + base64('the body').length
  const never = { delivered_seq: 0, read_seq: 0, gap_ahead: 0, active: 0 }
  const expected: Record<string, TransferRow[]> = {
    account: [
      {
        ...{ key: 1, id: 'ann', public_key: keyOf('ann').toUpperCase(), role: 'owner', clock: 47, forgotten_clock: 40 },
        ...{ messages: 2, bytes: 16, attachment_bytes: 0, artifact_bytes: artifactBytes },
        ...{ legacy_login: 'on', legacy_logins: 0, created_at: 1 }
      }
    ],
    account_cells: [{ account: 1, settings: 'sealed settings', settings_version: 3, settings_clock: 41 }],
    session: [
      {
        ...{ key: 1, account: 1, id: 'one', tag: 'tag of one', last_seq: 6, gaps: 4, bytes: 16, clock: 46, ...never },
        ...{ active_at: 103, created_at: 101, updated_at: 102 }
      },
      {
        ...{ key: 2, account: 1, id: 'two', tag: 'tag of two', last_seq: 0, gaps: 0, bytes: 0, clock: 47, ...never },
        ...{ active_at: 30, created_at: 10, updated_at: 20 }
      }
    ],
    session_cells: [
      {
        ...{ session: 1, account: 1, data_key: base64('key'), metadata: 'metadata', metadata_version: 4 },
        ...{ agent_state: 'state', agent_state_version: 5 }
      },
      { session: 2, account: 1, data_key: null, metadata: 'm', metadata_version: 1, agent_state: null, agent_state_version: 0 }
    ],
    message: [
      { account: 1, session: 1, seq: 2, created_at: 104, crc: checksumOf(1, 2, 'c2VhbGVk'), local_id: 'local', sealed: 'c2VhbGVk' },
      { account: 1, session: 1, seq: 4, created_at: 11, crc: checksumOf(1, 4, 'c2VhbGVk'), local_id: null, sealed: 'c2VhbGVk' }
    ],
    machine: [
      {
        ...{ key: 1, account: 1, id: 'laptop', data_key: base64('key'), metadata: 'metadata', metadata_version: 7 },
        ...{ daemon_state: 'state', daemon_state_version: 8, clock: 42, active: 0, active_at: 203, created_at: 201, updated_at: 202 }
      }
    ],
    artifact: [
      {
        ...{ key: 1, account: 1, id: 'note', seq: 11, clock: 43, created_at: 301, updated_at: 302, data_key: base64('key') },
        ...{ bytes: artifactBytes, header_version: 9, body_version: 10, header: base64('header'), body: base64('the body') }
      }
    ],
    access_key: [{ account: 1, session: 1, machine: 1, data: 'sealed', data_version: 12, created_at: 401, updated_at: 402 }],
    kv: [
      { account: 1, name: 'gone', version: 14, clock: 45, updated_at: 502, value: null },
      { account: 1, name: 'there', version: 13, clock: 44, updated_at: 501, value: base64('value') }
    ]
  }
  for (const [table, rows] of Object.entries(expected)) t.same(await rowsOf(store, table), rows, table)
  const usage = await rowsOf(store, 'usage_report')
  t.match(usage, [
    { account: 1, session: 0, name: 'claude', created_at: 603, updated_at: 604, tokens: '{"total":7}', cost: '{}' },
    { account: 1, session: 1, name: 'claude', created_at: 601, updated_at: 602, tokens: '{"total":5}', cost: '{"total":0.5}' }
  ])
  t.not(usage[0]?.['id'], usage[1]?.['id'])
  t.match(await rowsOf(store, 'push_token'), [
    { account: 1, token: 'ExponentPushToken[x]', id: /^\S{10,}$/, device: null, created_at: 701, updated_at: 702 }
  ])
  for (const { name } of transferTables)
    if (!(name in expected) && !['usage_report', 'push_token', 'epoch', 'legacy_hold'].includes(name))
      t.same(await rowsOf(store, name), [], `nothing in ${name}`)
})

t.test('rows of several accounts get keys of their own, higher than all that the store has used', async t => {
  const store = await emptyStore(t)
  await run(store, [ann])
  const second = { ...ann, id: 'bob', publicKey: keyOf('bob') }
  await run(store, [second, { ...ann, id: 'eve', publicKey: keyOf('eve') }])
  for (const table of ['account', 'machine', 'artifact'])
    t.same(
      (await rowsOf(store, table)).map(({ key }) => key),
      [1, 2, 3],
      table
    )
  t.same(
    (await rowsOf(store, 'session')).map(({ key, account }) => [key, account]),
    [1, 2, 3, 4, 5, 6].map(key => [key, Math.ceil(key / 2)])
  )
  t.same(
    (await rowsOf(store, 'access_key')).map(({ account, session, machine }) => [account, session, machine]),
    [
      [1, 1, 1],
      [2, 3, 2],
      [3, 5, 3]
    ]
  )
  t.match(await store.lastKeys(), { account: 3, usage_report: 6 })
})

t.test('settings that were never written have no row, and removed ones keep their version', async t => {
  const store = await emptyStore(t)
  await run(store, [
    { id: 'never', settings: null, settingsVersion: 0 },
    { id: 'removed', settings: null, settingsVersion: 2 },
    { id: 'first', settings: 'x', settingsVersion: 0 }
  ])
  t.same(
    (await rowsOf(store, 'account_cells')).map(({ account, settings, settings_version }) => [account, settings, settings_version]),
    [
      [2, null, 2],
      [3, 'x', 0]
    ]
  )
})

const tooLong = 'x'.repeat(32 * 1024 * 1024 + 1)
const tooMany = Buffer.alloc(24 * 1024 * 1024 + 1)
const misfits: [what: string, remark: string | RegExp, account: Account][] = [
  ['an account without an id', /^Account {2}is left out: its id is longer than 64 characters, or empty\.$/, { id: '' }],
  [
    'an account with another key',
    'Account x is left out: its key is not one of Ed25519.',
    { id: 'x', publicKey: `${keyOf('x').slice(1)}g` }
  ],
  ['an account with a longer key', 'Account x is left out: its key is not one of Ed25519.', { id: 'x', publicKey: `${keyOf('x')}0` }],
  ['long settings', 'Account x is left out: its settings are longer than 32 MiB.', { id: 'x', settings: tooLong }],
  [
    'a session with a long id',
    `Session ${'i'.repeat(112)}… is left out: its id is longer than 64 characters, or empty; so are its messages.`,
    { id: 'x', sessions: [{ id: 'i'.repeat(113) }] }
  ],
  [
    'a session with a long tag',
    'Session s is left out: its tag is longer than 1024 characters, or empty; so are its messages.',
    { id: 'x', sessions: [{ id: 's', tag: 't'.repeat(1_025) }] }
  ],
  [
    'a session with long metadata',
    'Session s is left out: its metadata is longer than 1 MiB; so are its messages.',
    { id: 'x', sessions: [{ id: 's', metadata: 'm'.repeat(1024 * 1024 + 1) }] }
  ],
  [
    'a session with a long state',
    'Session s is left out: the state of its agent is longer than 4 MiB; so are its messages.',
    { id: 'x', sessions: [{ id: 's', agentState: 'm'.repeat(4 * 1024 * 1024 + 1) }] }
  ],
  [
    'a message that is not sealed',
    'Message m of session s is left out: it is not a sealed text of at most 32 MiB.',
    { id: 'x', sessions: [{ id: 's', messages: [{ id: 'm', content: { t: 'plain', c: 'x' } }] }] }
  ],
  [
    'a message without content',
    'Message m of session s is left out: it is not a sealed text of at most 32 MiB.',
    { id: 'x', sessions: [{ id: 's', messages: [{ id: 'm', content: null }] }] }
  ],
  [
    'a message above the last number',
    'Message m of session s is left out: no number is left in its session.',
    { id: 'x', sessions: [{ id: 's', seq: 2 ** 31, messages: [{ id: 'm', seq: 2 ** 31 - 1 }] }] }
  ],
  ['a machine with a long id', fault(`Machine ${'m'.repeat(112)}…`), { id: 'x', machines: [{ id: 'm'.repeat(201) }] }],
  ['a machine with long metadata', fault('Machine m'), { id: 'x', machines: [{ metadata: 'm'.repeat(1024 * 1024 + 1) }] }],
  ['a machine with a long state', fault('Machine m'), { id: 'x', machines: [{ daemonState: 'm'.repeat(4 * 1024 * 1024 + 1) }] }],
  ['an artifact without an id', fault('Artifact '), { id: 'x', artifacts: [{ id: '' }] }],
  ['an artifact with a long header', fault('Artifact a'), { id: 'x', artifacts: [{ header: tooMany }] }],
  ['an artifact with a long body', fault('Artifact a'), { id: 'x', artifacts: [{ body: tooMany }] }],
  [
    'a key of no session',
    fault('The access key of session s on machine m'),
    { id: 'x', machines: [{ id: 'm' }], accessKeys: [{ sessionId: 's', machineId: 'm' }] }
  ],
  [
    'a key of no machine',
    fault('The access key of session s on machine m'),
    { id: 'x', sessions: [{ id: 's' }], accessKeys: [{ sessionId: 's', machineId: 'm' }] }
  ],
  [
    'a long key',
    fault('The access key of session s on machine m'),
    { id: 'x', sessions: [{ id: 's' }], machines: [{ id: 'm' }], accessKeys: [{ data: tooLong }] }
  ],
  ['a value without a name', fault('The value of '), { id: 'x', values: [{ key: '' }] }],
  [
    'sums that are not numbers',
    fault('The usage report claude of session none'),
    { id: 'x', usage: [{ data: { tokens: { total: 'many' }, cost: {} } }] }
  ],
  ['sums of no session', fault('The usage report claude of session s'), { id: 'x', usage: [{ sessionId: 's' }] }],
  ['sums with a long name', fault(`The usage report ${'n'.repeat(103)}…`), { id: 'x', usage: [{ key: 'n'.repeat(201) }] }],
  [
    'older sums of the same name',
    'A usage report claude without a session is left out: there is a newer one of this name.',
    { id: 'x', usage: [{ key: 'claude' }, { key: 'claude' }] }
  ],
  ['an empty push token', fault('A push token of account x'), { id: 'x', pushTokens: [{ token: '' }] }],
  ['a long push token', fault('A push token of account x'), { id: 'x', pushTokens: [{ token: 't'.repeat(4_097) }] }]
]

function fault(name: string): string {
  return `${name} is left out: it, or what it belongs to, is longer than allowed or not what it should be.`
}

t.test('what does not fit is named and left out, and the rest of its account is imported', async t => {
  for (const [what, remark, account] of misfits) {
    const store = await emptyStore(t)
    const { counts, remarks } = await run(store, [{ id: 'fine' }, account])
    t.match(remarks.slice(1), [remark], what)
    t.equal(remarks.length, 2, what)
    const leftOut = Object.values(counts).reduce((sum, count) => sum + count.leftOut, 0)
    t.equal(leftOut, 1, what)
    const accounts = (await rowsOf(store, 'account')).map(({ id }) => id)
    t.same(accounts, remark.toString().includes('Account') ? ['fine'] : ['fine', 'x'], what)
    const stored = ['session', 'session_cells', 'message', 'machine', 'artifact', 'access_key', 'kv', 'usage_report', 'push_token']
    let rows = 0
    for (const table of stored) rows += (await rowsOf(store, table)).length
    const imported = Object.entries(counts).reduce((sum, [kind, count]) => sum + (kind === 'accounts' ? 0 : count.imported), 0)
    t.equal(rows, imported + counts.sessions.imported, `${what}: the rest is there`)
  }
})

t.test('what is as long as allowed is imported', async t => {
  const store = await emptyStore(t)
  const { remarks } = await run(store, [
    {
      id: 'i'.repeat(64),
      sessions: [{ id: 's'.repeat(64), tag: 't'.repeat(1_024) }],
      machines: [{ id: 'm'.repeat(200) }],
      values: [{ key: 'k'.repeat(1_024) }],
      usage: [{ key: 'n'.repeat(200) }],
      pushTokens: [{ token: 't'.repeat(4_096) }]
    }
  ])
  t.equal(remarks.length, 1)
})

t.test('a message gets another number if its own is taken, and no local id if its own is taken or too long', async t => {
  const store = await emptyStore(t)
  const long = 'x'.repeat(201)
  const messages = [
    { id: 'a', seq: 0, localId: 'same' },
    { id: 'b', seq: 2, localId: 'same' },
    { id: 'c', seq: 2, localId: long },
    { id: 'd', seq: 7, localId: null }
  ]
  const { remarks } = await run(store, [
    {
      id: 'ann',
      sessions: [
        { id: 's', messages },
        { id: 'other', messages: [{ localId: 'same' }] }
      ]
    }
  ])
  const imported = (id: string) => `Message ${id} of session s is imported without the id of its sender, which is empty, too long or taken.`
  t.same(remarks.slice(1), [
    imported('b'),
    imported('c'),
    'Session s: 2 messages got a higher number, because theirs was taken or is none. Their order stays.'
  ])
  t.same(
    (await rowsOf(store, 'message')).map(({ session, seq, local_id }) => [session, seq, local_id]),
    [
      [1, 1, 'same'],
      [1, 2, null],
      [1, 3, null],
      [1, 7, null],
      [2, 1, 'same']
    ]
  )
  t.match(await rowsOf(store, 'session'), [
    { last_seq: 7, gaps: 3 },
    { last_seq: 1, gaps: 0 }
  ])
})

t.test('a session whose number is too high ends at the last possible one', async t => {
  const store = await emptyStore(t)
  await run(store, [{ id: 'ann', sessions: [{ id: 's', seq: 2 ** 31 + 5, messages: [{ seq: 2 ** 31 - 2 }] }] }])
  t.match(await rowsOf(store, 'session'), [{ last_seq: 2 ** 31 - 2, gaps: 2 ** 31 - 3 }])
})

t.test('the owner is the named account, or else the first valid one, unless the store has an owner already', async t => {
  const roles = async (store: Transfer) => (await rowsOf(store, 'account')).map(({ id, role }) => `${id} ${role}`)
  const named = await emptyStore(t)
  t.same((await run(named, [{ id: 'ann' }, { id: 'bob' }], { owner: 'bob' })).remarks, [])
  t.same(await roles(named), ['ann member', 'bob owner'])
  t.same((await run(named, [{ id: 'eve' }], { owner: 'eve' })).remarks, [], 'there is one')
  t.same(await roles(named), ['ann member', 'bob owner', 'eve member'])

  const first = await emptyStore(t)
  const { remarks } = await run(first, [{ id: 'bad', publicKey: 'x' }, { id: 'ann' }, { id: 'bob' }])
  t.match(remarks, [/^Account ann, the oldest, becomes the owner/, /^Account bad is left out/])
  t.same(await roles(first), ['ann owner', 'bob member'])

  const none = await emptyStore(t)
  for (const owner of ['nobody', 'bad'])
    await t.rejects(run(none, [{ id: 'bad', publicKey: 'x' }, { id: 'ann' }], { owner }), {
      name: 'CannotStart',
      message: `There is no account ${owner} to become the owner.`
    })
  t.same(await roles(none), [])
  t.same((await run(none, [])).remarks, [])
})

t.test('an account that is there already stays as it is, and so does one with its name', async t => {
  const store = await emptyStore(t)
  await run(store, [ann])
  const { counts, remarks } = await run(store, [
    { ...ann, id: 'renamed', publicKey: keyOf('ann').toLowerCase(), seq: 99 },
    { id: 'ann', publicKey: keyOf('other') }
  ])
  t.same(remarks, [
    'Account renamed is left out: it is here already, and stays as it is.',
    'Account ann is left out: another account has its id here.'
  ])
  t.same(counts.accounts, { imported: 0, leftOut: 2 })
  t.match(await rowsOf(store, 'account'), [{ id: 'ann', clock: 47 }])
})

t.test('a check says the same as an import, and writes nothing', async t => {
  const accounts = [ann, { id: 'bad', publicKey: 'x' }]
  const refuse = async () => {
    throw new Error('it writes')
  }
  const to = { ...emptyTransfer, write: refuse, atomically: refuse, continueAfter: refuse }
  t.same(await run(to, accounts, { isCheck: true }), await run(await emptyStore(t), accounts))
})

t.test('if a row of an account cannot be written, nothing of that account is stored, and those before it stay', async t => {
  const store = await emptyStore(t)
  const failing: Transfer = {
    ...store,
    async write(table, rows) {
      if (table.name === 'push_token' && rows[0]?.['account'] === 2) throw new Error('no space')
      await store.write(table, rows)
    }
  }
  await t.rejects(run(failing, [ann, { ...ann, id: 'bob', publicKey: keyOf('bob') }]), { message: 'no space' })
  t.match(await rowsOf(store, 'account'), [{ id: 'ann' }])
  t.equal(await store.count(transferTable('message')), 2)
  t.match(await store.lastKeys(), { account: 1 })
})

t.test('an import stops between accounts, and within a long session, with nothing of that account', async t => {
  for (const after of [1, 2]) {
    const store = await emptyStore(t)
    const stop = new AbortController()
    const long = { id: 's', messages: Array.from({ length: 2_500 }, () => ({})) }
    const told: unknown[] = []
    const tell = (progress: object) => {
      if (told.push(progress) === after) stop.abort()
    }
    await t.rejects(run(store, [{ id: 'ann' }, { id: 'bob', sessions: [long] }], { signal: stop.signal, tell }), {
      name: 'CannotStart',
      message: 'Stopped. Run the same command again to go on with the next account.',
      exitCode: 130
    })
    t.same(
      told,
      [
        { accounts: 1, messages: 0 },
        { accounts: 1, messages: 1_000 }
      ].slice(0, after)
    )
    t.same([await store.count(transferTable('account')), await store.count(transferTable('message'))], [1, 0])
  }
})

t.test('progress counts also what is left out, and is told at least every thousand messages', async t => {
  const told: unknown[] = []
  const long = { id: 's', messages: Array.from({ length: 2_001 }, (_, index) => (index === 7 ? { content: null } : {})) }
  await run(
    await emptyStore(t),
    [
      { id: 'bad', publicKey: 'x' },
      { id: 'ann', sessions: [long] }
    ],
    { tell: progress => told.push(progress) }
  )
  t.same(told, [
    { accounts: 1, messages: 0 },
    { accounts: 1, messages: 1_001 },
    { accounts: 1, messages: 2_001 },
    { accounts: 2, messages: 2_001 }
  ])
})

t.test('rows are written as they are read, up to 500 or about 4 MiB at a time', async t => {
  const store = await emptyStore(t)
  const sizes: number[] = []
  const watched: Transfer = {
    ...store,
    async write(table, rows) {
      if (table.name === 'message' || table.name === 'session_cells') sizes.push(rows.length)
      await store.write(table, rows)
    }
  }
  const many = Array.from({ length: 501 }, () => ({}))
  const large = Array.from({ length: 4 }, () => ({ content: { t: 'encrypted', c: 'x'.repeat(1_500_000) } }))
  await run(watched, [
    {
      id: 'ann',
      sessions: [
        { id: 'many', messages: many },
        { id: 'large', messages: large }
      ]
    }
  ])
  t.same(sizes, [500, 1, 3, 1, 2])
  sizes.length = 0
  const metadata = 'm'.repeat(1024 * 1024)
  const sessions = [1, 2, 3].map(id => ({ id: `session ${id}`, metadata, agentState: 's'.repeat(1024 * 1024) }))
  await run(watched, [{ id: 'bob', sessions }])
  t.same(sizes, [3])
  sizes.length = 0
  await run(watched, [{ id: 'eve', sessions: sessions.map(session => ({ ...session, agentState: 's'.repeat(3 * 1024 * 1024 + 1) })) }])
  t.same(sizes, [1, 1, 1])
})

t.test('attachments are imported in pieces with their session, and other files are named', async t => {
  const store = await emptyStore(t)
  const folder = memoryFolder(t)
  const place = join(folder, 'sessions', 'one', 'attachments')
  mkdirSync(place, { recursive: true })
  const name = (number: number) => `0d9f1c0a-0000-4000-8000-00000000000${number}.enc`
  const whole = Buffer.alloc(300_000, 'afield ')
  writeFileSync(join(place, name(1)), whole)
  writeFileSync(join(place, name(2)), 'small')
  writeFileSync(join(place, 'other.txt'), 'x')
  for (const number of [1, 2]) utimesSync(join(place, name(number)), 5, 7)
  const { counts, remarks } = await run(store, [ann], { bucket: { folder } })
  t.same(counts.attachments, { imported: 2, leftOut: 1 })
  t.match(
    remarks[1],
    /^The file \S+\/sessions\/one\/attachments\/other\.txt is left out: its name is not that of an attachment\.$|^The file \S+… is left out/
  )
  const same = { account: 1, session: 1, attempt: 0, created_at: 7_000, ends_at: null }
  t.same(await rowsOf(store, 'attachment'), [
    { ...same, key: 1, id: name(1), size: 300_000, received: 300_000, sha256: sha256(whole.toString()) },
    { ...same, key: 2, id: name(2), size: 5, received: 5, sha256: sha256('small') }
  ])
  const piece = (attachment: number, at: number, bytes: Buffer) => ({
    account: 1,
    attachment,
    at,
    crc: checksumOf(attachment, at, bytes),
    bytes
  })
  const pieces = [
    piece(1, 0, whole.subarray(0, 256 * 1024)),
    piece(1, 256 * 1024, whole.subarray(256 * 1024)),
    piece(2, 0, Buffer.from('small'))
  ]
  t.same(await rowsOf(store, 'attachment_piece'), pieces)
  t.match(await rowsOf(store, 'account'), [{ attachment_bytes: 300_005 }])
})
