import { createHash, type Hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart, exitCodes } from '../exit.ts'
import { asOwnerOf } from '../server/data-directory.ts'
import { existingDatabase, isPostgres, openMoveTarget, openTransfer } from '../store/open.ts'
import { RowDamaged } from '../store/store.ts'
import {
  isSameRow,
  type MoveTarget,
  RowTaken,
  rowName,
  type Transfer,
  type TransferRow,
  type TransferTable,
  transferPages,
  transferRows,
  transferTable,
  transferTables
} from '../store/transfer.ts'

export interface MoveProgress {
  step: 'copying' | 'comparing'
  /** Of all tables. */
  rows: number
  total: number
  /** Of the current table, once its last row is done. */
  finished?: { table: string; rows: number }
}

export interface MoveAsk {
  /** URLs of stores; a relative file is in the data directory. */
  from: string
  to: string
  data: string
  tell(progress: MoveProgress): void
  /** Stops between two pages of rows; another run goes on from there. */
  signal: AbortSignal
}

type MoveDeps = Pick<MoveAsk, 'tell' | 'signal'> & { from: Transfer; to: MoveTarget }

export interface Moved {
  /** Those that an earlier run copied included. */
  rows: number
  /** SHA-256 of all rows, as both stores give them. */
  digest: string
  /** Files in the data directory that every instance of the server needs. */
  files: string[]
}

/**
 * Copies everything of a store into another, reads it back from both, and lets servers use the copy. What clients have,
 * such as tokens and numbers, is valid there. Throws `CannotStart` if a server uses either, or if a row is damaged or cannot
 * be stored there.
 */
export async function moveStore({ from, to, data, tell, signal }: MoveAsk): Promise<Moved> {
  if (isPostgres(from)) throw new CannotStart('Only a store in one file can be moved: give sqlite:<file> first.')
  return asOwnerOf(existingDatabase(from, data), async () => {
    const target = await openMoveTarget(to)
    try {
      const source = await openTransfer(from, data)
      try {
        return { ...(await moveRows({ from: source, to: target, tell, signal })), files: sharedFiles(data) }
      } finally {
        await source.close()
      }
    } finally {
      await target.close()
    }
  })
}

/** Secrets that instances share are in the database, but these files are not. */
function sharedFiles(data: string): string[] {
  return ['https', 'reach.json'].filter(name => existsSync(join(data, name)))
}

async function moveRows(deps: MoveDeps): Promise<Omit<Moved, 'files'>> {
  const { from, to } = deps
  try {
    const begun = await to.begin(await epochOf(from))
    const total = await countAll(from)
    await copyAll(deps, begun === 'begun', total)
    await to.continueAfter(await from.lastKeys())
    const digest = await compareAll(deps, total)
    await to.finish()
    return { rows: total, digest }
  } catch (error) {
    if (error instanceof RowDamaged) {
      throw new CannotStart(`${error.message.replace(/\.$/, '')}: restore a backup, or remove what it belongs to.`, exitCodes.storage, {
        cause: error
      })
    }
    throw error
  }
}

async function epochOf(store: Transfer): Promise<string> {
  const [row] = await store.read(transferTable('epoch'), undefined)
  if (typeof row?.['id'] !== 'string') throw new Error('The store has no epoch')
  return row['id']
}

async function countAll(store: Transfer): Promise<number> {
  let total = 0
  for (const table of transferTables) total += await store.count(table)
  return total
}

/** Rows that change with almost every write: whether they are still the same shows whether the store was used since. */
const telling = new Set(['account', 'session'])

async function copyAll({ from, to, tell, signal }: MoveDeps, isBegun: boolean, total: number): Promise<void> {
  let rows = 0
  for (const table of transferTables) {
    const first = isBegun && !telling.has(table.name) ? await to.last(table) : undefined
    const before = first ? await to.count(table) : 0
    let copied = before
    for await (const page of transferPages(from, table, first)) {
      stopIfAsked(signal)
      await to.write(table, page).catch(asChanged)
      copied += page.length
      tell({ step: 'copying', rows: rows + copied, total })
    }
    rows += copied
    tell({ step: 'copying', rows, total, finished: { table: table.name, rows: copied } })
  }
}

function asChanged(error: unknown): never {
  if (error instanceof RowTaken) throw changed(error.message)
  throw error
}

/** Row by row, in the same order; the digest of both. */
async function compareAll({ from, to, tell, signal }: MoveDeps, total: number): Promise<string> {
  const digest = { from: createHash('sha256'), to: createHash('sha256') }
  let rows = 0
  for (const table of transferTables) {
    stopIfAsked(signal)
    const theirs = transferRows(to, table)
    let compared = 0
    for await (const row of transferRows(from, table)) {
      const { value: other } = await theirs.next()
      if (!other || !isSameRow(table, row, other)) throw changed(`${rowName(table, row)} differs`)
      add(digest.from, table, row)
      add(digest.to, table, other)
      compared++
      if (compared % 1_000 === 0) {
        stopIfAsked(signal)
        tell({ step: 'comparing', rows: rows + compared, total })
      }
    }
    const { value: more } = await theirs.next()
    if (more) throw changed(`${rowName(table, more)} was removed`)
    rows += compared
    tell({ step: 'comparing', rows, total, finished: { table: table.name, rows: compared } })
  }
  const [one, other] = [digest.from.digest('hex'), digest.to.digest('hex')]
  if (one !== other) throw changed('the digests differ')
  return one
}

function changed(what: string): CannotStart {
  return new CannotStart(
    `The two stores are not the same: ${shortened(what)}. The old one was used after the move began: create an empty database again, and start over.`,
    exitCodes.storage
  )
}

// The exit code that a shell uses after Ctrl-C.
const interrupted = 130

function stopIfAsked(signal: AbortSignal): void {
  if (signal.aborted) throw new CannotStart('Stopped. Run the same command again to go on from here.', interrupted)
}

/** Each value with its type and length, so that no two rows are written the same way. */
function add(hash: Hash, { name, columns }: TransferTable, row: TransferRow): void {
  hash.update(name)
  for (const column of Object.keys(columns)) {
    const value = row[column] ?? null
    const bytes = value instanceof Uint8Array ? value : Buffer.from(String(value ?? ''))
    hash.update(`\0${value === null ? 'null' : typeof value} ${bytes.length}\0`).update(bytes)
  }
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
