import type { z } from 'zod'
import type { Clock } from '../async/clock.ts'
import type { Cipher } from '../crypto/envelopes.ts'
import type { Rest } from './rest.ts'
import type { LiveSocket } from './socket.ts'

export interface SealedCell {
  value: string | null
  version: number
}

/** Writes over the expected version, or tells what is there instead. Rejects with `Unreachable` or `Refused`. */
export type WriteCell = (
  expected: number,
  value: string
) => Promise<{ type: 'written'; version: number } | ({ type: 'conflict' } & SealedCell)>

/** One versioned value that several clients write: metadata, agent state, settings. */
export interface Cell<Value> {
  readonly value: Value
  readonly version: number
  /**
   * Applies `change` to the newest value, again for each conflict, until it is stored; also over lost connections. Changes made in quick
   * succession share a write. A change that returns its argument writes nothing. Resolves to the stored value.
   * `change` must be pure. Rejects with `Refused`, with `UnreadableCell`, or when the cell is closed.
   */
  update(change: (value: Value) => Value): Promise<Value>
  /** The cell as a list or an update brought it. Older versions change nothing; false when the new one cannot be read. */
  take(cell: SealedCell): boolean
  close(): void
}

export interface CellOptions<Value> {
  cipher: Cipher
  schema: z.ZodType<Value>
  cell: SealedCell
  /** Stands for a cell whose value is null. */
  empty: Value
  write: WriteCell
  /** After each version that comes from elsewhere or was written here. */
  onChange?: ((value: Value) => void) | undefined
  clock?: Clock | undefined
  random?: (() => number) | undefined
}

/** Another client wrote something that this key does not open or this schema does not know. */
export declare class UnreadableCell extends Error {}

/** Throws `UnreadableCell` when the first value cannot be read. */
export declare function openCell<Value>(options: CellOptions<Value>): Cell<Value>

type Line = Pick<LiveSocket, 'request'>
export declare function writeSessionMetadata(socket: Line, session: string): WriteCell
export declare function writeAgentState(socket: Line, session: string): WriteCell
export declare function writeMachineMetadata(socket: Line, machine: string): WriteCell
export declare function writeDaemonState(socket: Line, machine: string): WriteCell
export declare function writeSettings(rest: Pick<Rest, 'call'>): WriteCell
