import t from 'tap'
import * as ids from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import {
  artifactHeadOf,
  artifactRecordOf,
  cellAckOf,
  changesReplyOf,
  filled,
  listedMachineOf,
  listedSessionOf,
  machineRecordOf,
  messageReceiptOf,
  messageRecordOf,
  namedDataOf,
  sessionRecordOf,
  uploadOf
} from '../../lib/server/records.ts'
import type { Changes } from '../../lib/store/changes.ts'
import type { MachineRow, SessionRow } from '../../lib/store/rows.ts'

const cell = (version: number) => ({ version, value: v.parse(ids.sealed, `version ${version}`) })
const times = { active: true, activeAt: 30, createdAt: 10, updatedAt: 20 }
const session: SessionRow = {
  ...{ id: v.parse(ids.sessionId, 's'), metadata: cell(1), agentState: cell(2), dataKey: null, lastSeq: 4, deliveredSeq: 3, readSeq: 2 },
  ...times
}
const machine: MachineRow = {
  id: v.parse(ids.machineId, 'm'),
  metadata: cell(1),
  daemonState: cell(2),
  dataKey: v.parse(ids.sealed, 'key'),
  ...times
}
const artifact = {
  ...{ id: v.parse(ids.artifactId, 'a'), header: cell(1), dataKey: v.parse(ids.sealed, 'key'), seq: 3, createdAt: 10, updatedAt: 20 }
}

t.test('rows are sent under the names of the protocol, and lists add what existing clients expect', async t => {
  t.strictSame(listedSessionOf(session), { ...sessionRecordOf(session), lastMessage: null })
  t.strictSame(listedMachineOf(machine), { ...machineRecordOf(machine), seq: 0 })
  t.strictSame(sessionRecordOf(session), {
    ...{ id: 's', seq: 4, deliveredSeq: 3, readSeq: 2, metadata: 'version 1', metadataVersion: 1 },
    ...{ agentState: 'version 2', agentStateVersion: 2, dataEncryptionKey: null, ...times }
  })
  t.strictSame(machineRecordOf(machine), {
    ...{ id: 'm', metadata: 'version 1', metadataVersion: 1, daemonState: 'version 2', daemonStateVersion: 2, dataEncryptionKey: 'key' },
    ...times
  })
})

t.test('a message is known by its session and number', async t => {
  const message = { seq: 7, localId: v.parse(ids.localId, 'mine'), sealed: v.parse(ids.sealed, 'x'), createdAt: 5 }
  t.strictSame(messageReceiptOf(session.id, message), { id: 's-7', seq: 7, localId: 'mine', createdAt: 5, updatedAt: 5 })
  const content = { t: 'encrypted', c: 'x' }
  t.strictSame(messageRecordOf(session.id, message), { ...messageReceiptOf(session.id, message), content })
})

t.test('changes contain rows as lists have them, and who has to start over is told so', async t => {
  const head = { id: 'a', header: 'version 1', headerVersion: 1, dataEncryptionKey: 'key', seq: 3, createdAt: 10, updatedAt: 20 }
  t.strictSame(artifactHeadOf(artifact), head)
  const changes: Changes = {
    ...{ complete: true, epoch: 'e', clock: 9, began: 8, more: false, active: undefined, settings: cell(1), kv: [], removed: [] },
    ...{ sessions: [session], machines: [machine], artifacts: [artifact] }
  }
  const { sessions: _, machines: __, artifacts: ___, ...rest } = changes
  t.strictSame(changesReplyOf(changes), {
    ...rest,
    sessions: [sessionRecordOf(session)],
    machines: [machineRecordOf(machine)],
    artifacts: [head]
  })
  const over = { complete: false, epoch: 'e', clock: 9 } as const
  t.strictSame(changesReplyOf(over), over)
})

t.test('an artifact is its head and its body', async t => {
  t.strictSame(artifactRecordOf({ ...artifact, body: cell(4) }), { ...artifactHeadOf(artifact), body: 'version 4', bodyVersion: 4 })
  t.strictSame(namedDataOf(cell(4)), { version: 4, data: 'version 4' })
})

t.test('a versioned write is acknowledged with the value that counts now', async t => {
  const value = v.parse(ids.sealed, 'new')
  const ack = (outcome: Parameters<typeof cellAckOf>[0]) => cellAckOf(outcome, value, ({ value }) => ({ metadata: value }))
  t.strictSame(ack('missing'), { result: 'error', message: 'Not found' })
  t.strictSame(ack({ written: true, version: 3, clock: 9 }), { result: 'success', version: 3, metadata: 'new' })
  t.strictSame(ack({ written: false, current: cell(7) }), { result: 'version-mismatch', version: 7, metadata: 'version 7' })
  t.equal(filled(cell(1)), 'version 1')
  t.equal(filled({ version: 0, value: null }), '')
})

t.test('an upload is complete once its checksum is known', async t => {
  const upload = { received: 3, size: 5, attempt: 1, sha256: null }
  t.strictSame(uploadOf(upload), { offset: 3, size: 5, complete: false })
  t.strictSame(uploadOf({ ...upload, sha256: 'x' }), { offset: 3, size: 5, complete: true })
})
