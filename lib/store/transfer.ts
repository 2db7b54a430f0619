/** A value as every driver gives and takes it. A flag is 0 or 1. */
export type TransferValue = string | number | Uint8Array | null
export type TransferRow = Readonly<Record<string, TransferValue>>

type Kind = 'integer' | 'flag' | 'text' | 'bytes'

/** A table that all drivers have, with the columns that are copied. */
export interface TransferTable {
  name: string
  columns: Readonly<Record<string, Kind>>
  /** Identifies a row; rows are read in this order, texts by their bytes. */
  key: readonly string[]
}

const [integer, flag, text, bytes] = ['integer', 'flag', 'text', 'bytes'] as const

/**
 * Everything a store consists of, each table after those it references. Left out: what a driver notes about its own
 * database, and `state_bytes` of an account, which each driver counts as rows are written.
 */
export const transferTables: readonly TransferTable[] = [
  { name: 'epoch', key: ['only_row'], columns: { only_row: integer, id: text } },
  { name: 'legacy_hold', key: ['only_row'], columns: { only_row: integer, until: integer } },
  { name: 'server_secret', key: ['name'], columns: { name: text, value: bytes } },
  { name: 'used_challenge', key: ['hash'], columns: { hash: bytes } },
  { name: 'used_nonce', key: ['hash'], columns: { hash: bytes, at: integer } },
  { name: 'revocation', key: ['token'], columns: { token: text, at: integer } },
  {
    name: 'signup',
    key: ['public_key'],
    columns: { public_key: text, fingerprint: text, state: text, client: text, address: text, asked_at: integer, ends_at: integer }
  },
  {
    name: 'invite',
    key: ['id'],
    columns: {
      ...{ id: text, hash: text, label: text, created_at: integer, ends_at: integer },
      ...{ open_until: integer, open_for: text, used_at: integer }
    }
  },
  {
    name: 'account',
    key: ['key'],
    columns: {
      ...{ key: integer, id: text, public_key: text, role: text, clock: integer, forgotten_clock: integer },
      ...{ messages: integer, bytes: integer, attachment_bytes: integer, artifact_bytes: integer },
      ...{ legacy_login: text, legacy_logins: integer, created_at: integer }
    }
  },
  {
    name: 'account_cells',
    key: ['account'],
    columns: { account: integer, settings: text, settings_version: integer, settings_clock: integer }
  },
  {
    name: 'device',
    key: ['key'],
    columns: {
      ...{ key: integer, account: integer, id: text, kind: text, name: text, public_key: text },
      ...{ created_at: integer, last_used_at: integer, last_used_from: text, notifications: text }
    }
  },
  {
    name: 'token',
    key: ['key'],
    columns: {
      ...{ key: integer, account: integer, id: text, hash: text, kind: text, label: text, device: integer, scopes: text },
      ...{ created_at: integer, last_used_at: integer, last_used_from: text, expires_at: integer, idle_ms: integer }
    }
  },
  {
    name: 'pairing',
    key: ['kind', 'public_key'],
    columns: {
      ...{ kind: text, public_key: text, supports_v2: flag, asked_from: text, account: integer, answered_by: integer },
      ...{ response: text, answer_hash: bytes, delivered: flag, asked_again: flag, ends_at: integer }
    }
  },
  {
    name: 'pairing_request',
    key: ['id'],
    columns: {
      ...{ id: text, kind: text, name: text, public_key: text, device_key: text, poll_hash: text, asked_from: text, about: text },
      ...{ account: integer, answered_by: integer, device: integer, response: text, answer_hash: bytes, sealed_token: text },
      ...{ token_ends_at: integer, state: text, asked_again: flag, ends_at: integer }
    }
  },
  {
    name: 'session',
    key: ['key'],
    columns: {
      ...{ key: integer, account: integer, id: text, tag: text, last_seq: integer, delivered_seq: integer, read_seq: integer },
      ...{ gap_ahead: integer, gaps: integer, bytes: integer, clock: integer, active: flag, active_at: integer },
      ...{ created_at: integer, updated_at: integer }
    }
  },
  {
    name: 'session_cells',
    key: ['session'],
    columns: {
      ...{ session: integer, account: integer, data_key: text, metadata: text, metadata_version: integer },
      ...{ agent_state: text, agent_state_version: integer }
    }
  },
  {
    name: 'message',
    key: ['account', 'session', 'seq'],
    columns: { account: integer, session: integer, seq: integer, created_at: integer, crc: integer, local_id: text, sealed: text }
  },
  {
    name: 'machine',
    key: ['key'],
    columns: {
      ...{ key: integer, account: integer, id: text, data_key: text, metadata: text, metadata_version: integer },
      ...{ daemon_state: text, daemon_state_version: integer, clock: integer, active: flag, active_at: integer },
      ...{ created_at: integer, updated_at: integer }
    }
  },
  {
    name: 'push_token',
    key: ['account', 'token'],
    columns: { account: integer, token: text, id: text, device: integer, created_at: integer, updated_at: integer }
  },
  {
    name: 'kv',
    key: ['account', 'name'],
    columns: { account: integer, name: text, version: integer, clock: integer, updated_at: integer, value: text }
  },
  {
    name: 'artifact',
    key: ['key'],
    columns: {
      ...{ key: integer, account: integer, id: text, seq: integer, clock: integer, created_at: integer, updated_at: integer },
      ...{ data_key: text, bytes: integer, header_version: integer, body_version: integer, header: text, body: text }
    }
  },
  {
    name: 'access_key',
    key: ['account', 'session', 'machine'],
    columns: {
      ...{ account: integer, session: integer, machine: integer, data: text, data_version: integer },
      ...{ created_at: integer, updated_at: integer }
    }
  },
  {
    name: 'usage_report',
    key: ['account', 'session', 'name'],
    columns: {
      ...{ key: integer, account: integer, session: integer, name: text, id: text },
      ...{ created_at: integer, updated_at: integer, tokens: text, cost: text }
    }
  },
  { name: 'removed', key: ['account', 'clock'], columns: { account: integer, clock: integer, kind: text, id: text } },
  {
    name: 'attachment',
    key: ['key'],
    columns: {
      ...{ key: integer, account: integer, session: integer, id: text, size: integer, received: integer, attempt: integer },
      ...{ sha256: text, created_at: integer, ends_at: integer }
    }
  },
  {
    name: 'attachment_piece',
    key: ['account', 'attachment', 'at'],
    columns: { account: integer, attachment: integer, at: integer, crc: integer, bytes: bytes }
  },
  {
    name: 'notice',
    key: ['key'],
    columns: {
      ...{ key: integer, account: integer, id: text, kind: text, session: text, title: text, body: text, preview: text },
      ...{ created_at: integer, expires_at: integer, settled_at: integer }
    }
  },
  {
    name: 'delivery',
    key: ['key'],
    columns: {
      ...{ key: integer, notice: integer, account: integer, channel: text, channel_kind: text, what: text, receipt: text },
      ...{ outcome: text, reason: text, ticket: text, attempts: integer, is_silent: flag, is_collected: flag, unless_watched: flag },
      ...{ due_at: integer, sent_at: integer, arrived_at: integer }
    }
  },
  { name: 'leftover', key: ['kind', 'key'], columns: { kind: text, key: integer, account: integer, id: text } }
]

export function transferTable(name: string): TransferTable {
  const table = transferTables.find(table => table.name === name)
  if (!table) throw new Error(`There is no table ${name}`)
  return table
}

/** Tables whose `key` is never used again, and the last one that was. */
export type LastKeys = Readonly<Record<string, number>>

/** A row that was to be written has the key of another, or something else that must be unique. */
export class RowTaken extends Error {
  override readonly name = 'RowTaken'
}

/** How many rows a page has at most; it ends earlier after `mostTransferBytes`, but has one if there is one. */
export const mostTransferRows = 1_000
export const mostTransferBytes = 4 * 1024 * 1024

export function sizeOf(row: TransferRow): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'object' || typeof value === 'string' ? (value?.length ?? 0) : 8),
    0
  )
}

/** Which row it is, for a person. */
export function rowName({ name, key }: TransferTable, row: TransferRow): string {
  const parts = key.map(column => row[column]).map(value => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value))
  // Clients choose some of them, and this is shown on a terminal.
  return `${name} ${parts.join(' ').replace(/\p{C}/gu, '�')}`
}

/** Whether two rows have the same values in these columns. */
export function isSameRow({ columns }: TransferTable, one: TransferRow, other: TransferRow): boolean {
  return Object.keys(columns).every(column => isSameValue(one[column], other[column]))
}

function isSameValue(one: unknown, other: unknown): boolean {
  return one instanceof Uint8Array && other instanceof Uint8Array ? Buffer.compare(one, other) === 0 : one === other
}

/**
 * A store that no server uses, as rows of the tables that all drivers share: for copying it into another, or for
 * filling it from elsewhere. Only one is open for a database.
 */
export interface Transfer {
  count(table: TransferTable): Promise<number>
  /** The next rows in the order of their key; none at the end. Throws `RowDamaged` if a checksum does not match. */
  read(table: TransferTable, after: TransferRow | undefined): Promise<TransferRow[]>
  /** Stores all of them or none; those that are there already are left. Throws `RowTaken` if another is there instead. */
  write(table: TransferTable, rows: readonly TransferRow[]): Promise<void>
  lastKeys(): Promise<LastKeys>
  /** New rows get higher keys than these. */
  continueAfter(keys: LastKeys): Promise<void>
  /** Everything that `run` writes, or nothing. */
  atomically<T>(run: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

export async function* transferPages(
  store: Pick<Transfer, 'read'>,
  table: TransferTable,
  after?: TransferRow
): AsyncGenerator<TransferRow[]> {
  for (let last = after; ; ) {
    const page = await store.read(table, last)
    if (page.length === 0) return
    yield page
    last = page.at(-1)
  }
}

/** All rows of a table in the order of their key. */
export async function* transferRows(store: Pick<Transfer, 'read'>, table: TransferTable): AsyncGenerator<TransferRow, undefined> {
  for await (const page of transferPages(store, table)) yield* page
  return undefined
}

/** A store that can be filled with all of another, also in several attempts. */
export interface MoveTarget extends Transfer {
  /**
   * Prepares it for the rows of the store with this epoch, and lets no server use it until `finish`. Throws `CannotStart`
   * unless it is empty or this was begun before. Returns whether it was begun before.
   */
  begin(epoch: string): Promise<'new' | 'begun'>
  /** The row with the highest key, after which a move continues. */
  last(table: TransferTable): Promise<TransferRow | undefined>
  /** From now on a server can use it. */
  finish(): Promise<void>
}

/** That of a store which does not exist yet, for looking at what would be written. */
export const emptyTransfer: Transfer = {
  count: async () => 0,
  read: async () => [],
  write: async () => {
    throw new Error('There is no store to write to')
  },
  lastKeys: async () => ({}),
  continueAfter: async () => {},
  atomically: run => run(),
  close: async () => {}
}
