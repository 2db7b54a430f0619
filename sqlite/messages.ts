import type { AccountId, LocalId, Sealed, SessionId } from '../lib/protocol/wire/ids.ts'
import type { Appended, Message, MessageDraft, Page, Store } from '../lib/store/store.ts'
import { accountClock } from './clock.ts'
import type { Deps } from './deps.ts'

/** Existing apps page backwards from 2^31 - 1, so no message may have that number. */
const lastPossibleSeq = 2 ** 31 - 2
/** A page ends early past this size, so that a few huge messages cannot fill the memory. */
const mostPageBytes = 16 * 1024 * 1024

type PageAsk = Parameters<Store['readMessages']>[2]
interface SessionHead {
  account: number
  session: number
  lastSeq: number
}

export function messages({ database, queue }: Deps): Pick<Store, 'appendMessages' | 'readMessages'> {
  const findHead = database.prepare<[AccountId, SessionId], SessionHead>(
    `SELECT account.key AS account, session.key AS session, last_seq AS lastSeq
     FROM account JOIN session ON session.account = account.key WHERE account.id = ? AND session.id = ?`
  )
  const insert = database.prepare<[number, number, number, LocalId | null, number, Sealed]>(
    `INSERT INTO message (account, session, seq, local_id, created_at, sealed) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (account, session, local_id) WHERE local_id IS NOT NULL DO NOTHING`
  )
  const select = 'SELECT seq, local_id AS localId, created_at AS createdAt, sealed FROM message WHERE account = ? AND session = ?'
  const findStored = database.prepare<[number, number, LocalId], Message>(`${select} AND local_id = ?`)
  const pageAfter = database.prepare<[number, number, number, number], Message>(`${select} AND seq > ? ORDER BY seq LIMIT ?`)
  const pageBefore = database.prepare<[number, number, number, number], Message>(`${select} AND seq < ? ORDER BY seq DESC LIMIT ?`)
  const moveHead = database.prepare<[number, number, number, number]>(
    'UPDATE session SET last_seq = ?, updated_at = ? WHERE account = ? AND key = ?'
  )
  const clock = accountClock(database)

  function append(account: AccountId, session: SessionId, drafts: readonly MessageDraft[], now: number): Appended | 'missing' | 'full' {
    const head = findHead.get(account, session)
    if (!head) return 'missing'
    if (!hasRoom(head, drafts)) return 'full'

    const added: Message[] = []
    const repeated: Message[] = []
    for (const { localId, sealed } of drafts) {
      const message = { seq: head.lastSeq + added.length + 1, localId, sealed, createdAt: now }
      const isNew = insert.run(head.account, head.session, message.seq, localId, now, sealed).changes === 1
      if (isNew) added.push(message)
      else repeated.push(stored(head, localId))
    }
    if (added.length > 0) moveHead.run(head.lastSeq + added.length, now, head.account, head.session)
    return {
      messages: repeated.length === 0 ? added : inOrder([...repeated, ...added]),
      added,
      clock: added.length > 0 ? clock.move(account, added.length) : clock.read(account)
    }
  }

  function stored({ account, session }: SessionHead, localId: LocalId | null): Message {
    const message = localId === null ? undefined : findStored.get(account, session, localId)
    if (!message) throw new Error('A message was refused as a repeat and is not there')
    return message
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
    const head = findHead.get(account, session)
    if (!head) return 'missing'
    const rows =
      'after' in page
        ? pageAfter.iterate(head.account, head.session, page.after, page.limit + 1)
        : pageBefore.iterate(head.account, head.session, page.before, page.limit + 1)
    return firstPage(rows, page.limit)
  }

  return {
    appendMessages: (account, session, drafts, now) => queue.write(() => append(account, session, drafts, now), bytesOf(drafts)),
    readMessages: (account, session, page) => queue.read(() => read(account, session, page))
  }
}

// Leaving the loop closes the iterator, and with it the statement.
function firstPage(rows: Iterable<Message>, limit: number): Page {
  const messages: Message[] = []
  let bytes = 0
  for (const message of rows) {
    if (messages.length === limit || bytes > mostPageBytes) return { messages, more: true }
    messages.push(message)
    bytes += message.sealed.length
  }
  return { messages, more: false }
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
