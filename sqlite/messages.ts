import type { Database } from 'better-sqlite3'
import type { AccountId, LocalId, Sealed, SessionId } from '../lib/protocol/wire/ids.ts'
import type { Appended, Message, MessageDraft, Page, Store } from '../lib/store/store.ts'
import { type Checked, checksumOf, isSound } from './checksum.ts'
import type { Tail } from './commit-queue.ts'
import type { Deps } from './deps.ts'

/** Existing apps page backwards from 2^31 - 1, so no message may have that number. */
const lastPossibleSeq = 2 ** 31 - 2
/** A page ends early past this size, so that a few huge messages cannot fill the memory. */
const mostPageBytes = 16 * 1024 * 1024

type StoredMessage = Message & Checked
type PageAsk = Parameters<Store['readMessages']>[2]
interface SessionHead {
  account: number
  session: number
  lastSeq: number
  clock: number
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

  function append(account: AccountId, session: SessionId, drafts: readonly MessageDraft[], now: number): Appended | 'missing' | 'full' {
    const head = heads.open(account, session)
    if (!head) return 'missing'
    if (!hasRoom(head, drafts)) return 'full'

    const added: Message[] = []
    const repeated: Message[] = []
    for (const { localId, sealed } of drafts) {
      const message = { seq: head.lastSeq + added.length + 1, localId, sealed, createdAt: now }
      const crc = checksumOf(head.session, message.seq, sealed)
      const isNew = insert.run(head.account, head.session, message.seq, localId, now, sealed, crc).changes === 1
      if (isNew) added.push(message)
      else repeated.push(stored(head, localId))
    }
    return {
      messages: repeated.length === 0 ? added : inOrder([...repeated, ...added]),
      added,
      clock: heads.move(account, session, added.length, now)
    }
  }

  function stored({ account, session }: SessionHead, localId: LocalId | null): Message {
    const message = localId === null ? undefined : findStored.get(account, session, localId)
    if (!message) throw new Error('A message was refused as a repeat and is not there')
    if (!isSound(session, message)) throw damage.note(session, message.seq)
    return messageOf(message)
  }

  // Counting the repeats costs a search for each, so it waits until the end of the numbers is near.
  function hasRoom(head: SessionHead, drafts: readonly MessageDraft[]): boolean {
    const room = lastPossibleSeq - head.lastSeq
    if (drafts.length <= room) return true
    const unknown = drafts.filter(({ localId }) => localId === null || !findStored.get(head.account, head.session, localId))
    const names = new Set(unknown.map(({ localId }) => localId ?? Symbol('unnamed')))
    return names.size <= room
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

  // Leaving the loop closes the iterator, and with it the statement. A page ends before a damaged message, and one that
  // would begin with it is refused: what comes after it is never shown as if nothing were missing.
  function firstPage(rows: Iterable<StoredMessage>, limit: number, session: number): Page {
    const messages: Message[] = []
    let bytes = 0
    for (const row of rows) {
      if (messages.length === limit || bytes > mostPageBytes) return { messages, more: true }
      if (!isSound(session, row)) {
        const damaged = damage.note(session, row.seq)
        if (messages.length === 0) throw damaged
        return { messages, more: true }
      }
      messages.push(messageOf(row))
      bytes += row.sealed.length
    }
    return { messages, more: false }
  }

  return {
    appendMessages: (account, session, drafts, now) =>
      queue.write(() => append(account, session, drafts, now), { bytes: bytesOf(drafts), tail: heads }),
    readMessages: (account, session, page) => queue.read(() => read(account, session, page))
  }
}

interface SessionHeads extends Tail {
  find(account: AccountId, session: SessionId): SessionHead | undefined
  /** As `find`, with what appends of this turn have moved already. */
  open(account: AccountId, session: SessionId): SessionHead | undefined
  /** Moves the last seq of an opened session and the clock of its account; returns the clock. */
  move(account: AccountId, session: SessionId, by: number, now: number): number
}

/**
 * The counters that appends move. Those of one turn look them up once and write them once, however many messages come:
 * a busy session costs its inserts and little else.
 */
function sessionHeads(database: Database): SessionHeads {
  // One table searched by a whole unique key is planned once. A join is planned again at each call, because the driver
  // clears the bindings that the planner had looked at; that costs ten times as much as the search.
  const find = database.prepare<[AccountId, SessionId], SessionHead>(
    `SELECT account, key AS session, last_seq AS lastSeq, (SELECT clock FROM account WHERE key = session.account) AS clock
     FROM session WHERE account = (SELECT key FROM account WHERE id = ?) AND id = ?`
  )
  const moveSession = database.prepare<[number, number, number, number, number]>(
    'UPDATE session SET last_seq = ?, updated_at = ?, clock = ? WHERE account = ? AND key = ?'
  )
  const moveClock = database.prepare<[number, number]>('UPDATE account SET clock = ? WHERE key = ?')
  const headByName = new Map<string, SessionHead & { movedAt: number | undefined }>()
  const clockByAccount = new Map<number, number>()

  return {
    find: (account, session) => find.get(account, session),
    open(account, session) {
      const name = `${account} ${session}`
      const opened = headByName.get(name)
      if (opened) return opened
      const head = find.get(account, session)
      if (head) headByName.set(name, { ...head, movedAt: undefined })
      return head
    },
    move(account, session, by, now) {
      const head = headByName.get(`${account} ${session}`)
      if (!head) throw new Error('A session was moved that was not opened')
      const clock = (clockByAccount.get(head.account) ?? head.clock) + by
      if (by === 0) return clock
      head.lastSeq += by
      head.movedAt = now
      head.clock = clock
      clockByAccount.set(head.account, clock)
      return clock
    },
    finish() {
      for (const { movedAt, lastSeq, clock, account, session } of headByName.values()) {
        if (movedAt !== undefined) moveSession.run(lastSeq, movedAt, clock, account, session)
      }
      for (const [account, clock] of clockByAccount) moveClock.run(clock, account)
      this.forget()
    },
    forget() {
      headByName.clear()
      clockByAccount.clear()
    }
  }
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
