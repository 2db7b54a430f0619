import { currentAgentState } from '../../../lib/client/happy/agent-state.ts'
import type { AccountSession, AccountVault, Cipher } from '../../../lib/client/index.ts'
import { daemonState, machineMetadata } from '../../../lib/protocol/sealed/machine.ts'
import { type AgentState, agentState, sessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import type { MachineRecord } from '../../../lib/protocol/wire/records.ts'
import * as v from '../../../lib/schema.ts'
import type { MachineView, SessionView } from '../store.ts'

/** A session as this device can read it. Parts that cannot be decrypted are omitted, never fatal. */
export function sessionView(vault: Pick<AccountVault, 'openKey'>, row: AccountSession): Omit<SessionView, 'last'> {
  const cipher = vault.openKey(row.dataEncryptionKey)
  return {
    id: row.id,
    seq: row.seq,
    isActive: row.active,
    activeAt: row.activeAt,
    isThinking: row.active && row.thinking,
    deliveredSeq: row.deliveredSeq,
    readSeq: row.readSeq,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    dataEncryptionKey: row.dataEncryptionKey,
    metadata: opened(cipher, row.metadata, sessionMetadata),
    agentState: row.agentState === null ? null : currentOf(opened(cipher, row.agentState, agentState))
  }
}

export function machineView(vault: Pick<AccountVault, 'openKey'>, row: MachineRecord): MachineView {
  const cipher = vault.openKey(row.dataEncryptionKey)
  return {
    id: row.id,
    isActive: row.active,
    activeAt: row.activeAt,
    createdAt: row.createdAt,
    metadata: opened(cipher, row.metadata, machineMetadata),
    daemonState: row.daemonState === null ? null : opened(cipher, row.daemonState, daemonState)
  }
}

function currentOf(state: AgentState | undefined): AgentState | undefined {
  return state && currentAgentState(state)
}

function opened<Value>(cipher: Cipher | undefined, sealed: string, schema: v.GenericSchema<unknown, Value>): Value | undefined {
  const plain = cipher?.open(sealed)
  if (!plain?.ok) return undefined
  return v.safeParse(schema, plain.value).data
}
