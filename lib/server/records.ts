import type { Sealed, SessionId } from '../protocol/wire/ids.ts'
import type { ArtifactHead, ArtifactRecord, MachineRecord, MessageReceipt, MessageRecord, SessionRecord } from '../protocol/wire/records.ts'
import type { ChangesReply } from '../protocol/wire/routes/changes.ts'
import type { ReplyOf } from '../protocol/wire/routes.ts'
import type * as artifacts from '../store/artifacts.ts'
import type { Upload } from '../store/attachments.ts'
import type { Changes, StartOver } from '../store/changes.ts'
import type { Cell, Conflict, MachineRow, Message, SessionRow, Written } from '../store/rows.ts'

/** Rows of the store in wire format. */
export function sessionRecordOf(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    seq: row.lastSeq,
    deliveredSeq: row.deliveredSeq,
    readSeq: row.readSeq,
    metadata: filled(row.metadata),
    metadataVersion: row.metadata.version,
    agentState: row.agentState.value,
    agentStateVersion: row.agentState.version,
    dataEncryptionKey: row.dataKey,
    active: row.active,
    activeAt: row.activeAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt
  }
}

export function listedSessionOf(row: SessionRow): ReplyOf<'openSession'>['session'] {
  return { ...sessionRecordOf(row), lastMessage: null }
}

export function machineRecordOf(row: MachineRow): MachineRecord {
  return {
    id: row.id,
    metadata: filled(row.metadata),
    metadataVersion: row.metadata.version,
    daemonState: row.daemonState.value,
    daemonStateVersion: row.daemonState.version,
    dataEncryptionKey: row.dataKey,
    active: row.active,
    activeAt: row.activeAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt
  }
}

export function listedMachineOf(row: MachineRow): ReplyOf<'listMachines'>[number] {
  return { ...machineRecordOf(row), seq: 0 }
}

export function artifactHeadOf({ id, header, dataKey, seq, createdAt, updatedAt }: artifacts.ArtifactHead): ArtifactHead {
  return { id, header: header.value, headerVersion: header.version, dataEncryptionKey: dataKey, seq, createdAt, updatedAt }
}

export function artifactRecordOf(row: artifacts.ArtifactRow): ArtifactRecord {
  return { ...artifactHeadOf(row), body: row.body.value, bodyVersion: row.body.version }
}

export function changesReplyOf(changes: Changes | StartOver): ChangesReply {
  if (!changes.complete) return changes
  const { sessions, machines, artifacts, ...rest } = changes
  return {
    ...rest,
    sessions: sessions.map(sessionRecordOf),
    machines: machines.map(machineRecordOf),
    artifacts: artifacts.map(artifactHeadOf)
  }
}

export function messageReceiptOf(session: SessionId, message: Message): MessageReceipt {
  const { seq, localId, createdAt } = message
  // A message is identified by its session and seq; clients want one text.
  return { id: `${session}-${seq}`, seq, localId, createdAt, updatedAt: createdAt }
}

export function messageRecordOf(session: SessionId, message: Message): MessageRecord {
  return { ...messageReceiptOf(session, message), content: { t: 'encrypted', c: message.sealed } }
}

export function uploadOf({ received, size, sha256 }: Upload): ReplyOf<'readUpload'> {
  return { offset: received, size, complete: sha256 !== null }
}

/** The acknowledgement of a versioned write: the current value, under the name in the event. */
export function cellAckOf<Named>(outcome: Written | Conflict | 'missing', value: Sealed | null, named: (cell: Cell) => Named) {
  if (outcome === 'missing') return { result: 'error' as const, message: 'Not found' }
  const current = outcome.written ? { version: outcome.version, value } : outcome.current
  return { result: outcome.written ? ('success' as const) : ('version-mismatch' as const), version: current.version, ...named(current) }
}

export function namedDataOf({ version, value }: artifacts.SealedCell) {
  return { version, data: value }
}

// Metadata is never null: the routes and events that write it accept text only.
export function filled(cell: Cell): Sealed {
  return cell.value ?? ('' as Sealed)
}
