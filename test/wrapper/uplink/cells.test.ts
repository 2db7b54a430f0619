import t from 'tap'
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
