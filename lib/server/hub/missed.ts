import type { Change } from '../../bus/bus.ts'
import type { AccountId, SessionId } from '../../protocol/wire/ids.ts'
import type { Changes, StartOver } from '../../store/changes.ts'
import type { Cell, CellRef, RemovableRef, SessionRow } from '../../store/rows.ts'
import type { StoredRows } from './stored-change.ts'

/** Above this many missed updates clients reconnect, and read what they need themselves. */
const mostUpdates = 1_000
const messagesPerPage = 500

interface Missed {
  /** With these, everything up to here was sent. */
  clock: number
  /** Undefined if they are too many, or no longer known. */
  changes: AsyncIterable<Change> | undefined
}

/** What was sent of an account before. */
interface Sent {
  /** Whether a row was sent, or a part of it. */
  has(row: RemovableRef): boolean
  /** The last seq of a session, if any was sent. */
  seq(session: SessionId): number | undefined
}

/** Reads what was stored and not heard on the bus. */
export class MissedChanges {
  readonly #store: StoredRows
  /** Of the store, once it has told it. */
  #epoch: string | undefined

  constructor(store: StoredRows) {
    this.#store = store
  }

  /**
   * The changes that lead from a clock to what is stored now. What exactly happened is not stored, so a row may be announced
   * to clients that know it, and a value or message that they have may come again: they drop these.
   */
  async since(account: AccountId, since: number, sent: Sent): Promise<Missed> {
    const page = await this.#read(account, since)
    const isTooMuch = !page.complete || page.more || page.clock - since > mostUpdates
    return { clock: page.clock, changes: isTooMuch ? undefined : this.#changes(account, page, { sent, mostMessages: page.clock - since }) }
  }

  async #read(account: AccountId, since: number): Promise<Changes | StartOver> {
    const read = () => this.#store.changesSince(account, { epoch: this.#epoch, since, began: since, limit: mostUpdates })
    const isFirst = this.#epoch === undefined
    const page = await read()
    this.#epoch = page.epoch
    return isFirst && !page.complete ? read() : page
  }

  async *#changes(account: AccountId, page: Changes, { sent, mostMessages }: { sent: Sent; mostMessages: number }): AsyncIterable<Change> {
    // First, since an id may have been used again.
    for (const row of page.removed) yield { type: 'row-removed', row }
    for (const session of page.sessions) yield* changesTo(session, sent)
    for (const machine of page.machines) {
      const ref = { of: 'machine', id: machine.id } as const
      if (!sent.has(ref)) yield { type: 'machine-opened', machine }
      yield* written({ ...ref, name: 'metadata' }, machine.metadata)
      yield* written({ ...ref, name: 'daemonState' }, machine.daemonState)
    }
    if (page.settings) yield* written({ of: 'account', name: 'settings' }, page.settings)
    if (page.kv.length > 0) yield { type: 'kv-written', changes: page.kv }
    for (const { id } of page.artifacts) yield* this.#artifact(account, id, sent)
    for (const session of page.sessions) yield* this.#messages(account, session, sent.seq(session.id) ?? session.lastSeq - mostMessages)
  }

  async *#artifact(account: AccountId, id: Changes['artifacts'][number]['id'], sent: Sent): AsyncIterable<Change> {
    const artifact = await this.#store.findArtifact(account, id)
    if (artifact === 'missing') return
    if (!sent.has({ of: 'artifact', id })) yield { type: 'artifact-opened', artifact }
    yield { type: 'artifact-written', id, header: artifact.header, body: artifact.body }
  }

  async *#messages(account: AccountId, { id, lastSeq }: SessionRow, sent: number): AsyncIterable<Change> {
    for (let after = Math.max(0, sent); after < lastSeq; ) {
      const page = await this.#store.readMessages(account, id, { after, limit: messagesPerPage })
      const last = page === 'missing' ? undefined : page.messages.at(-1)
      if (page === 'missing' || !last) return
      yield { type: 'messages-added', session: id, messages: page.messages }
      after = last.seq
    }
  }
}

function* changesTo(session: SessionRow, sent: Sent): Iterable<Change> {
  const { id, metadata, agentState, deliveredSeq, readSeq } = session
  const ref = { of: 'session', id } as const
  if (!sent.has(ref)) yield { type: 'session-opened', session }
  yield* written({ ...ref, name: 'metadata' }, metadata)
  yield* written({ ...ref, name: 'agentState' }, agentState)
  if (deliveredSeq > 0) yield { type: 'receipts-marked', session: id, deliveredSeq, readSeq }
}

function* written(cell: CellRef, now: Cell): Iterable<Change> {
  // Otherwise nobody ever wrote to it.
  if (now.version > 0 || now.value !== null) yield { type: 'cell-written', cell, now }
}
