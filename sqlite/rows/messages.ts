import type { Database } from 'better-sqlite3'
import type { AccountId, LocalId, Sealed, SessionId } from '../../lib/protocol/wire/ids.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { Appended, Message, MessageDraft, Page } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import { type Checked, checksumOf, isSound } from '../engine/checksum.ts'
import type { Tail } from '../engine/commit-queue.ts'
import type { Deps } from '../engine/deps.ts'

/** Existing apps page backwards from 2^31 - 1, so no message may have that number. */
export const lastPossibleSeq = 2 ** 31 - 2
/** A page ends early past this size, so that a few huge messages cannot fill the memory. */
const mostPageBytes = 16 * 1024 * 1024

type StoredMessage = Message & Checked
type PageAsk = Parameters<Store['readMessages']>[2]
interface SessionHead {
  account: number
  session: number
  lastSeq: number
  /**
   * Numbers that the next message skips, because they may have been assigned before a backup was
   * restored.
   */
  gapAhead: number
}
/** Counters of an account. */
interface Counters {
  clock: number
  messages: number
  bytes: number
  /** Of attachments and artifacts; appends do not move them. */
  bytesBeside: number
}
interface OpenHead extends SessionHead {
  counters: Counters
}

export function messages({ database, queue, damage }: Deps): Pick<Store, 'appendMessages' | 'readMessages'> {
  const heads = sessionHeads(database)
  const insert = database.prepare<[number, number, number, LocalId | null, number, Sealed, number]>(
    `INSERT INTO message (account, session, seq, local_id, created_at, sealed, crc) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (account, session, local_id) WHERE local_id IS NOT NULL DO NOTHING`
  )
  const select = 'SELECT seq, local_id AS localId, created_at AS createdAt, sealed, crc FROM message WHERE account = ? AND session = ?'
  const findStored = database.prepare<[number, number, LocalId], StoredMessage>(`${select} AND local_id = ?`)
  const pageAfter = database.prepare<[number, number, number, number], StoredMessage>(`${select} AND seq > ? ORDER BY seq LIMIT ?`)
  const pageBefore = database.prepare<[number, number, number, number], StoredMessage>(`${select} AND seq < ? ORDER BY seq DESC LIMIT ?`)

  function append(
    account: AccountId,
    session: SessionId,
    drafts: readonly MessageDraft[],
    now: number,
    quotas: Quotas
  ): Appended | 'missing' | 'full' {
    const head = heads.open(account, session)
    if (!head) return 'missing'
    if (!hasRoom(head, drafts)) return 'full'
    mayKeep(head, drafts, quotas)

    const added: Message[] = []
    const repeated: Message[] = []
    for (const { localId, sealed } of drafts) {
      const message = { seq: head.lastSeq + head.gapAhead + added.length + 1, localId, sealed, createdAt: now }
      const crc = checksumOf(head.session, message.seq, sealed)
      const isNew = insert.run(head.account, head.session, message.seq, localId, now, sealed, crc).changes === 1
      if (isNew) added.push(message)
      else repeated.push(stored(head, localId))
    }
    return {
      messages: repeated.length === 0 ? added : inOrder([...repeated, ...added]),
      added,
      clock: heads.move(account, session, { messages: added.length, bytes: bytesOf(added) }, now)
    }
  }

  function stored({ account, session }: SessionHead, localId: LocalId | null): Message {
    const message = localId === null ? undefined : findStored.get(account, session, localId)
    if (!message) throw new Error('A message was refused as a repeat and is not there')
    if (!isSound(session, message)) throw damage.note(`message ${message.seq} of ${session}`)
    return messageOf(message)
  }

  // Detecting repeats costs a search for each, so it is only done near the end of the numbers, or of a
  // quota.
  function hasRoom(head: SessionHead, drafts: readonly MessageDraft[]): boolean {
    const room = lastPossibleSeq - head.lastSeq - head.gapAhead
    return drafts.length <= room || newOnes(head, drafts).length <= room
  }

  function mayKeep(head: OpenHead, drafts: readonly MessageDraft[], quotas: Quotas): void {
    if (excessOf(head.counters, drafts, quotas) === undefined) return
    const excess = excessOf(head.counters, newOnes(head, drafts), quotas)
    if (excess !== undefined) throw new OverQuota(excess)
  }

  function newOnes(head: SessionHead, drafts: readonly MessageDraft[]): MessageDraft[] {
    const unknown = drafts.filter(({ localId }) => localId === null || !findStored.get(head.account, head.session, localId))
    return [...new Map(unknown.map(draft => [draft.localId ?? Symbol('unnamed'), draft])).values()]
  }

  function read(account: AccountId, session: SessionId, page: PageAsk): Page | 'missing' {
    const head = heads.find(account, session)
    if (!head) return 'missing'
    const rows =
      'after' in page
        ? pageAfter.iterate(head.account, head.session, page.after, page.limit + 1)
        : pageBefore.iterate(head.account, head.session, page.before, page.limit + 1)
    return firstPage(rows, page.limit, head.session)
  }

  // Leaving the loop closes the iterator, and with it the statement. A page ends before a damaged message,
  // and one that would begin with it is rejected: later messages are never shown as if nothing were
  // missing.
  function firstPage(rows: Iterable<StoredMessage>, limit: number, session: number): Page {
    const messages: Message[] = []
    let bytes = 0
    for (const row of rows) {
      if (messages.length === limit || bytes > mostPageBytes) return { messages, more: true }
      if (!isSound(session, row)) {
        const damaged = damage.note(`message ${row.seq} of ${session}`)
        if (messages.length === 0) throw damaged
        return { messages, more: true }
      }
      messages.push(messageOf(row))
      bytes += row.sealed.length
    }
    return { messages, more: false }
  }

  return {
    appendMessages: (account, session, drafts, now, quotas = noQuotas) =>
      queue.write(() => append(account, session, drafts, now, quotas), { bytes: bytesOf(drafts), tail: heads }),
    readMessages: (account, session, page) => queue.read(() => read(account, session, page))
  }
}

interface SessionHeads extends Tail {
  find(account: AccountId, session: SessionId): SessionHead | undefined
  /** Like `find`, including counters moved by appends of this turn. */
  open(account: AccountId, session: SessionId): OpenHead | undefined
  /** Advances the last seq of an opened session and the counters of its account; returns the clock. */
  move(account: AccountId, session: SessionId, added: { messages: number; bytes: number }, now: number): number
}

/**
 * The counters that appends move. Those of one turn read them once and write them once, however many
 * messages come: a busy session costs its inserts and little else.
 */
function sessionHeads(database: Database): SessionHeads {
  // A search of one table by a whole unique key is planned once. A join is planned again at each call,
  // because the driver clears the bindings that the planner used; that costs ten times as much as the
  // search.
  const find = database.prepare<[AccountId, SessionId], SessionHead>(
    'SELECT account, key AS session, last_seq AS lastSeq, gap_ahead AS gapAhead FROM session WHERE account = (SELECT key FROM account WHERE id = ?) AND id = ?'
  )
  const findCounters = database.prepare<[number], Counters>(
    'SELECT clock, messages, bytes, attachment_bytes + artifact_bytes AS bytesBeside FROM account WHERE key = ?'
  )
  const moveSession = database.prepare<[number, number, number, number, number, number]>(
    'UPDATE session SET last_seq = ?, updated_at = ?, clock = ?, bytes = bytes + ? WHERE account = ? AND key = ?'
  )
  const closeGap = database.prepare<[number, number]>(
    'UPDATE session SET gaps = gaps + gap_ahead, gap_ahead = 0 WHERE account = ? AND key = ?'
  )
  const moveAccount = database.prepare<[number, number, number, number]>(
    'UPDATE account SET clock = ?, messages = ?, bytes = ? WHERE key = ?'
  )
  const headByName = new Map<string, OpenHead & { moved: { at: number; clock: number; bytes: number } | undefined }>()
  const countersByAccount = new Map<number, Counters>()

  function countersOf(account: number): Counters {
    const opened = countersByAccount.get(account)
    if (opened) return opened
    const counters = findCounters.get(account)
    if (!counters) throw new Error('The account does not exist')
    countersByAccount.set(account, counters)
    return counters
  }

  return {
    find: (account, session) => find.get(account, session),
    open(account, session) {
      const name = `${account} ${session}`
      const opened = headByName.get(name)
      if (opened) return opened
      const head = find.get(account, session)
      if (!head) return undefined
      const open = { ...head, counters: countersOf(head.account), moved: undefined }
      headByName.set(name, open)
      return open
    },
    move(account, session, added, now) {
      const head = headByName.get(`${account} ${session}`)
      if (!head) throw new Error('A session was moved that was not opened')
      const { counters } = head
      if (added.messages === 0) return counters.clock
      counters.clock += added.messages
      counters.messages += added.messages
      counters.bytes += added.bytes
      if (head.gapAhead > 0) closeGap.run(head.account, head.session)
      head.lastSeq += head.gapAhead + added.messages
      head.gapAhead = 0
      head.moved = { at: now, clock: counters.clock, bytes: (head.moved?.bytes ?? 0) + added.bytes }
      return counters.clock
    },
    finish() {
      const movedAccounts = new Set<number>()
      for (const { moved, lastSeq, account, session } of headByName.values()) {
        if (!moved) continue
        moveSession.run(lastSeq, moved.at, moved.clock, moved.bytes, account, session)
        movedAccounts.add(account)
      }
      for (const account of movedAccounts) {
        const { clock, messages, bytes } = countersOf(account)
        moveAccount.run(clock, messages, bytes, account)
      }
      this.forget()
    },
    forget() {
      headByName.clear()
      countersByAccount.clear()
    }
  }
}

function excessOf(
  { messages, bytes, bytesBeside }: Counters,
  drafts: readonly MessageDraft[],
  quotas: Pick<Quotas, 'messages' | 'bytes'>
): 'messages' | 'bytes' | undefined {
  if (drafts.length === 0) return undefined
  if (messages + drafts.length > quotas.messages) return 'messages'
  return quotas.bytes !== Number.POSITIVE_INFINITY && bytes + bytesBeside + bytesOf(drafts) > quotas.bytes ? 'bytes' : undefined
}

function messageOf({ seq, localId, sealed, createdAt }: StoredMessage): Message {
  return { seq, localId, sealed, createdAt }
}

// A draft repeated within its batch is answered once.
function inOrder(messages: Message[]): Message[] {
  return [...new Map(messages.map(message => [message.seq, message])).values()].toSorted((a, b) => a.seq - b.seq)
}

function bytesOf(drafts: readonly MessageDraft[]): number {
  let bytes = 0
  for (const { sealed } of drafts) bytes += sealed.length
  return bytes
}
