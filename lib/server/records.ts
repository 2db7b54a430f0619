import type { Sealed, SessionId } from '../protocol/wire/ids.ts'
import type { ArtifactHead, ArtifactRecord, MachineRecord, MessageReceipt, MessageRecord, SessionRecord } from '../protocol/wire/records.ts'
import type { ChangesReply } from '../protocol/wire/routes/changes.ts'
import type * as artifacts from '../store/artifacts.ts'
import type { Changes, StartOver } from '../store/changes.ts'
import type { Cell, MachineRow, Message, SessionRow } from '../store/rows.ts'

/** Rows of the store as the wire shows them. */
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
  // A message is known by its session and seq; clients want one text.
  return { id: `${session}-${seq}`, seq, localId, createdAt, updatedAt: createdAt }
}

export function messageRecordOf(session: SessionId, message: Message): MessageRecord {
  return { ...messageReceiptOf(session, message), content: { t: 'encrypted', c: message.sealed } }
}

// Metadata is never null: the routes and events that write it take text only.
export function filled(cell: Cell): Sealed {
  return cell.value ?? ('' as Sealed)
}
