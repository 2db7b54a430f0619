import t, { type Test } from 'tap'
import type { LiveSocket } from '../../../lib/client/link/socket.ts'
import { cryptoReady, engine, legacyCipher } from '../../../lib/crypto/index.ts'
import { sealed } from '../../../lib/protocol/wire/ids.ts'
import type { SessionRecord } from '../../../lib/protocol/wire/records.ts'
import * as v from '../../../lib/schema.ts'
import { createUplinkCells } from '../../../lib/wrapper/uplink/cells.ts'

t.test('the state found on the server is reported first, so that a later archive request is recognized', async t => {
  await cryptoReady()
  const cipher = legacyCipher(engine.randomBytes(32))
  const metadata = { path: '/orchard', host: 'studio-mini', lifecycleState: 'running' }
  const heard: (string | undefined)[] = []
  const onStored = ({ lifecycleState }: { lifecycleState?: string | undefined }) => void heard.push(lifecycleState)
  const cells = createUplinkCells({ cipher, metadata, onChange() {}, onStored, onRefused() {} })
  t.teardown(() => cells.close())
  const row = (state: string, metadataVersion: number) => ({
    metadata: v.parse(sealed, cipher.seal({ ...metadata, lifecycleState: state })),
    metadataVersion,
    agentState: null,
    agentStateVersion: 0
  })
  const socket = { onState: () => () => {} } as unknown as LiveSocket
  cells.openOn({ id: 's1', ...row('running', 1) } as unknown as SessionRecord, socket)
  cells.takeRow(row('archiveRequested', 2), false)
  t.same(heard, ['running', 'archiveRequested'])
})

t.test('a change that the server always rejects is reported, and affects no other', async t => {
  await cryptoReady()
  const cipher = legacyCipher(engine.randomBytes(32))
  const metadata = { path: '/orchard', host: 'studio-mini' }
  const told = Promise.withResolvers<string>()
  const cells = createUplinkCells({ cipher, metadata, onChange() {}, onStored() {}, onRefused: told.resolve })
  t.teardown(() => cells.close())
  let version = 0
  const answers = [
    { message: 'Internal error' },
    { message: 'Too many messages at once' },
    { message: 'The server is out of space', status: 507 },
    { message: 'Too many requests', status: 429 }
  ]
  const request = async (_name: string, { agentState = '' }: { agentState?: string }) => {
    const trouble = answers.shift()
    if (trouble !== undefined) return { result: 'error', ...trouble }
    if (agentState.length > 4000) return { result: 'error', message: 'Invalid parameters' }
    version += 1
    return { result: 'success', version, agentState }
  }
  const socket = { onState: () => () => {}, request } as unknown as LiveSocket
  const row = { id: 's1', metadata: cipher.seal(metadata), metadataVersion: 1, agentState: null, agentStateVersion: 0 }
  const opened = cells.openOn(row as unknown as SessionRecord, socket)
  cells.changeState(state => ({ ...state, note: 'kept' }))
  cells.changeState(state => ({ ...state, large: 'x'.repeat(10_000) }))
  t.equal(await told.promise, 'Invalid parameters')
  t.same(opened.state.value, { note: 'kept' }, 'a server in trouble was asked again, and the small change is there')
})

const orchard = { path: '/orchard', host: 'studio-mini' }

/** The cells of a session, and a server that keeps what is written, or rejects it. */
async function opened(t: Pick<Test, 'teardown'>, { isOpen = true } = {}) {
  await cryptoReady()
  const cipher = legacyCipher(engine.randomBytes(32))
  const [told, stored, refused]: [object[], object[], string[]] = [[], [], []]
  const cells = createUplinkCells({
    cipher,
    metadata: orchard,
    onChange: metadata => void told.push(metadata),
    onStored: metadata => void stored.push(metadata),
    onRefused: why => void refused.push(why)
  })
  t.teardown(() => cells.close())
  const kept = { metadata: { value: cipher.seal(orchard), version: 3 }, agentState: { value: null as string | null, version: 0 } }
  let trouble: object | undefined
  const written: [name: string, value: unknown][] = []
  const readBack = (text: string | null) => {
    const read = text === null ? undefined : cipher.open(text)
    return read?.ok ? read.value : undefined
  }
  const request = async (name: string, { expectedVersion, ...values }: Record<string, string> & { expectedVersion: never }) => {
    const of = name === 'update-metadata' ? 'metadata' : 'agentState'
    if (trouble) return { result: 'error', ...trouble }
    if (expectedVersion !== kept[of].version) return { result: 'version-mismatch', version: kept[of].version, [of]: kept[of].value }
    const value = values[of] ?? ''
    kept[of] = { value, version: expectedVersion + 1 }
    written.push([name, readBack(value)])
    return { result: 'success', version: kept[of].version, [of]: value }
  }
  const socket = { onState: () => () => {}, request } as unknown as LiveSocket
  const row = () => ({
    metadata: v.parse(sealed, kept.metadata.value),
    metadataVersion: kept.metadata.version,
    agentState: kept.agentState.value === null ? null : v.parse(sealed, kept.agentState.value),
    agentStateVersion: kept.agentState.version
  })
  const open = () => cells.openOn({ id: 's1', ...row() } as unknown as SessionRecord, socket)
  if (isOpen) open()
  return {
    cells,
    cipher,
    kept,
    told,
    stored,
    refused,
    written,
    open,
    row,
    /** What is begun here has been answered. */
    settled: () => new Promise(resolve => setImmediate(resolve)),
    reject: (how: object | undefined) => {
      trouble = how
    }
  }
}

t.test('before it is open, a session is at the phone, and what changes is kept for the server', async t => {
  const { cells, told, stored, written, open, settled } = await opened(t, { isOpen: false })
  t.strictSame([cells.state, cells.metadata], [{ controlledByUser: false }, orchard])
  cells.changeState(state => ({ ...state, controlledByUser: true }))
  cells.changeMetadata(metadata => ({ ...metadata, summary: { text: 'Pears', updatedAt: 1 } }))
  cells.changeMetadata(metadata => ({ ...metadata, host: 'shed' }))
  const now = { ...orchard, host: 'shed', summary: { text: 'Pears', updatedAt: 1 } }
  t.strictSame([cells.state, cells.metadata], [{ controlledByUser: true }, now])
  t.strictSame(told, [{ ...orchard, summary: now.summary }, now], 'on disk before the server has it')
  t.strictSame([written, stored], [[], []])
  await cells.archive()
  open()
  await settled()
  t.strictSame(written, [
    ['update-state', { controlledByUser: true }],
    ['update-metadata', now]
  ])
  t.strictSame(stored, [orchard, now], 'first as the server had it')
})

t.test('what changes while it is open is written at once, to what others wrote meanwhile', async t => {
  const { cells, cipher, kept, written, settled } = await opened(t)
  kept.metadata = { value: cipher.seal({ ...orchard, host: 'of a phone' }), version: 9 }
  cells.changeMetadata(metadata => ({ ...metadata, summary: { text: 'Pears', updatedAt: 1 } }))
  cells.changeState(state => ({ ...state, controlledByUser: true }))
  await settled()
  t.strictSame(written, [
    ['update-state', { controlledByUser: true }],
    ['update-metadata', { ...orchard, host: 'of a phone', summary: { text: 'Pears', updatedAt: 1 } }]
  ])
  t.equal(cells.metadata.host, 'of a phone')
})

t.test('a row is taken if it is newer, and in any case from a server that was restored', async t => {
  const { cells, cipher, kept, stored, row } = await opened(t)
  stored.length = 0
  kept.metadata = { value: cipher.seal({ ...orchard, host: 'older' }), version: 2 }
  cells.takeRow(row(), false)
  t.strictSame(stored, [])
  cells.takeRow(row(), true)
  t.strictSame(stored, [{ ...orchard, host: 'older' }])
  kept.metadata = { value: cipher.seal({ ...orchard, host: 'newer' }), version: 3 }
  cells.takeRow(row(), false)
  t.equal(cells.metadata.host, 'newer')
})

t.test('an archived session has said so before that resolves, with its last state', async t => {
  const { cells, written, cipher, kept } = await opened(t)
  const before = Date.now()
  cells.changeState(state => ({ ...state, controlledByUser: true }))
  await cells.archive()
  t.match(written.slice(-1), [['update-metadata', { ...orchard, lifecycleState: 'archived' }]])
  t.match(cipher.open(kept.agentState.value ?? ''), { value: { controlledByUser: true } })
  t.ok((cells.metadata.lifecycleStateSince ?? 0) >= before)
})

t.test('only what will never be accepted is reported: no missing session, and nothing after the end', async t => {
  const { cells, refused, reject, settled, kept, cipher } = await opened(t)
  const change = () => {
    cells.changeState(state => ({ ...state, controlledByUser: !state.controlledByUser }))
    cells.changeMetadata(metadata => ({ ...metadata, host: `${metadata.host}!` }))
    return settled()
  }
  reject({ message: 'Session not found', status: 404 })
  await change()
  t.strictSame(refused, [])
  reject({ message: 'Too large', status: 413 })
  await change()
  t.strictSame(refused, ['Too large', 'Too large'])
  reject(undefined)
  refused.length = 0
  const foreign = cipher.seal('of an unknown shape')
  kept.metadata = { value: foreign, version: 20 }
  kept.agentState = { value: foreign, version: 20 }
  await change()
  t.equal(refused.length, 2, 'what another program wrote is not written over')
  refused.length = 0
  reject({ message: 'Too large', status: 413 })
  cells.close()
  await change()
  t.strictSame(refused, [])
})
