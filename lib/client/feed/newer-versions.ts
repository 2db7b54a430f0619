import type { Sealed } from '../../protocol/wire/ids.ts'
import type { MachineRecord, SessionRecord } from '../../protocol/wire/records.ts'

// The later of two states of the same thing, whichever arrived first.

interface SealedCell {
  value: Sealed | null
  version: number
}
type Metadata = Pick<SessionRecord, 'metadata' | 'metadataVersion'>
type AgentState = Pick<SessionRecord, 'agentState' | 'agentStateVersion'>
type Receipts = Pick<SessionRecord, 'deliveredSeq' | 'readSeq'>
type DaemonState = Pick<MachineRecord, 'daemonState' | 'daemonStateVersion'>

export function newerMetadata(one: Metadata, other: Metadata | undefined): Metadata {
  const { metadata, metadataVersion } = other && other.metadataVersion > one.metadataVersion ? other : one
  return { metadata, metadataVersion }
}

/** A Happy server stores no receipts. */
export function furthest(one: Receipts, other: Receipts | undefined): Receipts {
  return {
    deliveredSeq: Math.max(one.deliveredSeq ?? 0, other?.deliveredSeq ?? 0),
    readSeq: Math.max(one.readSeq ?? 0, other?.readSeq ?? 0)
  }
}

export function newerAgentState(one: AgentState, other: AgentState | undefined): AgentState {
  const { agentState, agentStateVersion } = other && other.agentStateVersion > one.agentStateVersion ? other : one
  return { agentState, agentStateVersion }
}

export function newerDaemonState(one: DaemonState, other: DaemonState | undefined): DaemonState {
  const { daemonState, daemonStateVersion } = other && other.daemonStateVersion > one.daemonStateVersion ? other : one
  return { daemonState, daemonStateVersion }
}

export function metadataOf(cell: { value: Sealed; version: number } | undefined): Metadata | undefined {
  return cell && { metadata: cell.value, metadataVersion: cell.version }
}

export function agentStateOf(cell: SealedCell | undefined): AgentState | undefined {
  return cell && { agentState: cell.value, agentStateVersion: cell.version }
}

export function daemonStateOf(cell: SealedCell | undefined): DaemonState | undefined {
  return cell && { daemonState: cell.value, daemonStateVersion: cell.version }
}

type Presence = Pick<SessionRecord, 'active' | 'activeAt'>

export function latestPresence(row: Presence, known: Presence | undefined): Presence {
  const { active, activeAt } = known && known.activeAt > row.activeAt ? known : row
  return { active, activeAt }
}
