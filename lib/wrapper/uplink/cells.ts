import { Refused } from '../../client/link/refusals.ts'
import type { LiveSocket } from '../../client/link/socket.ts'
import { writeAgentState, writeSessionMetadata } from '../../client/outbox/cell-writers.ts'
import { type Cell, openCell, UnreadableCell } from '../../client/outbox/cells.ts'
import type { Cipher } from '../../crypto/envelopes.ts'
import { type AgentState, agentState, type SessionMetadata, sessionMetadata } from '../../protocol/sealed/session.ts'
import type { SessionRecord } from '../../protocol/wire/records.ts'

type Changed = Pick<SessionRecord, 'metadata' | 'metadataVersion' | 'agentState' | 'agentStateVersion'>
type Cells = { state: Cell<AgentState>; metadata: Cell<SessionMetadata> }

/** The state and metadata of a session. Changes made before the server is reachable are sent later. */
export interface UplinkCells {
  readonly state: AgentState
  readonly metadata: SessionMetadata
  changeState(change: (state: AgentState) => AgentState): void
  changeMetadata(change: (metadata: SessionMetadata) => SessionMetadata): void
  openOn(record: SessionRecord, socket: LiveSocket): Cells
  /** Sends changes made while offline, regardless of their version if the server was restored to an older state. */
  takeRow(row: Changed, isBack: boolean): void
  /** Resolves when the server has stored the end of the session and all other changes. */
  archive(): Promise<void>
  close(): void
}

export function createUplinkCells(options: {
  cipher: Cipher
  metadata: SessionMetadata
  /** A local change, before the server has it. */
  onChange(metadata: SessionMetadata): void
  /** The current value on the server. */
  onStored(metadata: SessionMetadata): void
  /** A change was permanently rejected, and devices do not see it. */
  onRefused(why: string): void
}): UplinkCells {
  const { cipher, onChange, onStored } = options
  let state: AgentState = { controlledByUser: false }
  let metadata = options.metadata
  let cells: Cells | undefined
  const early: { state: ((state: AgentState) => AgentState)[]; metadata: ((metadata: SessionMetadata) => SessionMetadata)[] } = {
    state: [],
    metadata: []
  }

  // Missing sessions are reported elsewhere, and a closed cell has no one to notify.
  function tellRefusal(error: unknown): void {
    const isFinal = error instanceof UnreadableCell || (error instanceof Refused && error.status !== 404)
    if (isFinal) options.onRefused(error.message)
  }

  function changeState(change: (state: AgentState) => AgentState): void {
    state = change(state)
    if (cells) cells.state.update(change).catch(tellRefusal)
    else early.state.push(change)
  }

  function changeMetadata(change: (metadata: SessionMetadata) => SessionMetadata): void {
    metadata = change(metadata)
    onChange(metadata)
    if (cells) cells.metadata.update(change).catch(tellRefusal)
    else early.metadata.push(change)
  }

  return {
    get state() {
      return state
    },
    get metadata() {
      return metadata
    },
    changeState,
    changeMetadata,
    openOn(record, socket) {
      const stateCell = openCell<AgentState>({
        cipher,
        schema: agentState,
        cell: { value: record.agentState, version: record.agentStateVersion },
        empty: {},
        socket,
        write: writeAgentState(socket, record.id)
      })
      const metadataCell = openCell<SessionMetadata>({
        cipher,
        schema: sessionMetadata,
        cell: { value: record.metadata, version: record.metadataVersion },
        empty: metadata,
        socket,
        write: writeSessionMetadata(socket, record.id),
        onChange: stored => {
          metadata = stored
          onStored(stored)
        }
      })
      cells = { state: stateCell, metadata: metadataCell }
      // The state when opened: only an archiving after this was done by a person.
      onStored(metadataCell.value)
      for (const change of early.state.splice(0)) changeState(change)
      for (const change of early.metadata.splice(0)) changeMetadata(change)
      return cells
    },
    takeRow(row, isBack) {
      const how = isBack ? 'replace' : 'take'
      cells?.metadata[how]({ value: row.metadata, version: row.metadataVersion })
      cells?.state[how]({ value: row.agentState, version: row.agentStateVersion })
    },
    async archive() {
      const ended = { lifecycleState: 'archived', lifecycleStateSince: Date.now() }
      await cells?.metadata.update(metadata => ({ ...metadata, ...ended }))
      // Joins a state write in progress, and waits for it.
      await cells?.state.update(state => state)
    },
    close() {
      cells?.state.close()
      cells?.metadata.close()
      cells = undefined
    }
  }
}
