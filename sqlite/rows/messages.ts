import type { AccountId, LocalId, Sealed, SessionId } from '../../lib/protocol/wire/ids.ts'
import { type Checked, checksumOf, isSound } from '../../lib/store/checksum.ts'
import { bytesOf, excessOf, inOrder, lastPossibleSeq, mostPageBytes } from '../../lib/store/drafts.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { Appended, Message, MessageDraft, Page } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'
import { type OpenHead, type SessionHead, sessionHeads } from './session-heads.ts'

type StoredMessage = Message & Checked
type PageAsk = Parameters<Store['readMessages']>[2]
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
      const crc = checksumOf(head.sessionKey, message.seq, sealed)
      const isNew = insert.run(head.accountKey, head.sessionKey, message.seq, localId, now, sealed, crc).changes === 1
      if (isNew) added.push(message)
      else repeated.push(stored(head, localId))
    }
    return {
      messages: repeated.length === 0 ? added : inOrder([...repeated, ...added]),
      added,
      clock: heads.move(account, session, { messages: added.length, bytes: bytesOf(added) }, now)
    }
  }

  function stored({ accountKey, sessionKey }: SessionHead, localId: LocalId | null): Message {
    const message = localId === null ? undefined : findStored.get(accountKey, sessionKey, localId)
    if (!message) throw new Error('A message was refused as a repeat and is not there')
    if (!isSound(sessionKey, message)) throw damage.note(`message ${message.seq} of ${sessionKey}`)
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
    const unknown = drafts.filter(({ localId }) => localId === null || !findStored.get(head.accountKey, head.sessionKey, localId))
    return [...new Map(unknown.map(draft => [draft.localId ?? Symbol('unnamed'), draft])).values()]
  }

  function read(account: AccountId, session: SessionId, page: PageAsk): Page | 'missing' {
    const head = heads.find(account, session)
    if (!head) return 'missing'
    const rows =
      'after' in page
        ? pageAfter.iterate(head.accountKey, head.sessionKey, page.after, page.limit + 1)
        : pageBefore.iterate(head.accountKey, head.sessionKey, page.before, page.limit + 1)
    return firstPage(rows, page.limit, head.sessionKey)
  }

  // Leaving the loop closes the iterator, and with it the statement. A page ends before a damaged message,
  // and one that would begin with it is rejected: later messages are never shown as if nothing were
  // missing.
  function firstPage(rows: Iterable<StoredMessage>, limit: number, sessionKey: number): Page {
    const messages: Message[] = []
    let bytes = 0
    for (const row of rows) {
      if (messages.length === limit || bytes > mostPageBytes) return { messages, more: true }
      if (!isSound(sessionKey, row)) {
        const damaged = damage.note(`message ${row.seq} of ${sessionKey}`)
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

function messageOf({ seq, localId, sealed, createdAt }: StoredMessage): Message {
  return { seq, localId, sealed, createdAt }
}
