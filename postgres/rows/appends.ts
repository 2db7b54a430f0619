import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { type Checked, checksumOf, isSound } from '../../lib/store/checksum.ts'
import type { Damage } from '../../lib/store/damage.ts'
import { bytesOf, type Counters, excessOf, inOrder, lastPossibleSeq } from '../../lib/store/drafts.ts'
import { OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { Appended, Message, MessageDraft } from '../../lib/store/rows.ts'
import type { RowDamaged } from '../../lib/store/store.ts'
import type { Queries, Tail, Tx } from '../engine/deps.ts'

interface Ask {
  account: AccountId
  session: SessionId
  drafts: readonly MessageDraft[]
  now: number
  quotas: Quotas
}
/** A refusal is an answer: nothing was written for it, so the rest of the turn need not be rolled back. */
type Answer = Appended | 'missing' | 'full' | OverQuota | RowDamaged

interface Waiting extends Ask {
  answer(answer: Answer): void
}

/** Where the numbers of a session stand, including those given out in this turn. The keys are those of its rows. */
interface Head {
  accountKey: number
  sessionKey: number
  lastSeq: number
  gapAhead: number
  counters: Counters
  known: Map<string, Message | RowDamaged>
  moved: { at: number; clock: number; bytes: number } | undefined
}
type FlatHead = Omit<Head, 'counters' | 'known' | 'moved'> & Counters & { account: string; session: string }
type Stored = Message & Checked & { sessionKey: number }

interface Appends extends Tail {
  append(tx: Tx, ask: Ask): Promise<Answer>
}

/**
 * The appends of one turn are done together: however many messages and sessions there are, the counters and the
 * repeats are read by two statements, sent at once, and everything is written by three.
 */
export function openAppends(damage: Damage): Appends {
  const waitingByTx = new WeakMap<Tx, Waiting[]>()
  return {
    append(tx, ask) {
      const waiting = waitingByTx.get(tx) ?? []
      waitingByTx.set(tx, waiting)
      return new Promise(answer => waiting.push({ ...ask, answer }))
    },
    async finish(tx) {
      const waiting = waitingByTx.get(tx) ?? []
      waitingByTx.delete(tx)
      const [heads, known] = await Promise.all([readHeads(tx, waiting), readKnown(tx, waiting)])
      for (const message of known) note(heads, message, damage)
      const rows: NewRow[] = []
      for (const { answer, ...ask } of waiting) answer(appendTo(heads.get(nameOf(ask)), ask, rows))
      if (rows.length > 0) write(tx, rows, [...heads.values()])
    }
  }
}

const nameOf = ({ account, session }: Pick<Ask, 'account' | 'session'>) => `${account} ${session}`

/** One of those of each session. */
function oncePerSession(asks: readonly Ask[]): Ask[] {
  return [...new Map(asks.map(ask => [nameOf(ask), ask])).values()]
}

async function readHeads(tx: Queries, asks: readonly Ask[]): Promise<Map<string, Head>> {
  const asked = oncePerSession(asks)
  const rows = await tx.all<FlatHead>(
    `SELECT asked.account, asked.session, account.key AS "accountKey", session.key AS "sessionKey", last_seq AS "lastSeq",
       gap_ahead AS "gapAhead", account.clock, messages, account.bytes, attachment_bytes + artifact_bytes AS "bytesBeside"
     FROM unnest($1::text[], $2::text[]) AS asked (account, session)
     JOIN account ON account.id = asked.account JOIN session ON session.account = account.key AND session.id = asked.session`,
    [asked.map(({ account }) => account), asked.map(({ session }) => session)]
  )
  const countersByAccount = new Map<number, Counters>()
  return new Map(
    rows.map(({ account, session, clock, messages, bytes, bytesBeside, ...head }) => {
      const counters = countersByAccount.get(head.accountKey) ?? { clock, messages, bytes, bytesBeside }
      countersByAccount.set(head.accountKey, counters)
      return [`${account} ${session}`, { ...head, counters, known: new Map(), moved: undefined }]
    })
  )
}

/**
 * The messages that are repeated by these drafts. Each is the first from its key on, if that is its own: as long as a table has no
 * statistics, a plain join goes by the key of the session alone and reads all its messages, for each draft.
 */
async function readKnown(tx: Queries, asks: readonly Ask[]): Promise<Stored[]> {
  const asked = oncePerSession(asks)
  const placeByName = new Map(asked.map((ask, index) => [nameOf(ask), index + 1]))
  const named = asks.flatMap(ask =>
    ask.drafts.flatMap(({ localId }) => (localId === null ? [] : [{ place: placeByName.get(nameOf(ask)), localId }]))
  )
  if (named.length === 0) return []
  return tx.all<Stored>(
    `WITH head AS MATERIALIZED (
       SELECT place, session.account, session.key
       FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (account, session, place)
       JOIN account ON account.id = asked.account JOIN session ON session.account = account.key AND session.id = asked.session
     )
     SELECT found.session AS "sessionKey", seq, found.local_id AS "localId", created_at AS "createdAt", sealed, crc
     FROM unnest($3::bigint[], $4::text[]) AS draft (place, local_id) JOIN head ON head.place = draft.place
     CROSS JOIN LATERAL (
       SELECT * FROM message
       WHERE (message.account, message.session, message.local_id) >= (head.account, head.key, draft.local_id) AND message.local_id IS NOT NULL
       ORDER BY message.account, message.session, message.local_id LIMIT 1
     ) AS found
     WHERE found.account = head.account AND found.session = head.key AND found.local_id = draft.local_id`,
    [
      asked.map(({ account }) => account),
      asked.map(({ session }) => session),
      named.map(({ place }) => place),
      named.map(({ localId }) => localId)
    ]
  )
}

function note(heads: Map<string, Head>, { sessionKey, crc, seq, localId, sealed, createdAt }: Stored, damage: Damage): void {
  const isIntact = isSound(sessionKey, { seq, sealed, crc })
  for (const head of heads.values()) {
    if (head.sessionKey !== sessionKey || localId === null) continue
    head.known.set(localId, isIntact ? { seq, localId, sealed, createdAt } : damage.note(`message ${seq} of ${sessionKey}`))
  }
}

interface NewRow extends Message {
  accountKey: number
  sessionKey: number
}

function appendTo(head: Head | undefined, { drafts, now, quotas }: Ask, rows: NewRow[]): Answer {
  if (!head) return 'missing'
  const { known, counters, accountKey, sessionKey } = head
  const fresh = newOnes(head, drafts)
  if (fresh.length > lastPossibleSeq - head.lastSeq - head.gapAhead) return 'full'
  const excess = excessOf(counters, fresh, quotas)
  if (excess !== undefined) return new OverQuota(excess)

  const repeated: Message[] = []
  for (const { localId } of drafts) {
    const stored = localId === null ? undefined : known.get(localId)
    if (stored instanceof Error) return stored
    if (stored) repeated.push(stored)
  }
  const first = head.lastSeq + head.gapAhead + 1
  const added = fresh.map(({ localId, sealed }, index) => ({ seq: first + index, localId, sealed, createdAt: now }))
  for (const message of added) {
    if (message.localId !== null) known.set(message.localId, message)
    rows.push({ ...message, accountKey, sessionKey })
  }
  move(head, added, now)
  return { messages: repeated.length === 0 ? added : inOrder([...repeated, ...added]), added, clock: counters.clock }
}

/** The drafts that are not stored yet, each once. */
function newOnes({ known }: Head, drafts: readonly MessageDraft[]): MessageDraft[] {
  const unknown = drafts.filter(({ localId }) => localId === null || !known.has(localId))
  const names = new Set<string>()
  return unknown.filter(({ localId }) => localId === null || (!names.has(localId) && names.add(localId)))
}

function move(head: Head, added: readonly Message[], now: number): void {
  if (added.length === 0) return
  const { counters } = head
  const bytes = bytesOf(added)
  counters.clock += added.length
  counters.messages += added.length
  counters.bytes += bytes
  head.lastSeq += head.gapAhead + added.length
  head.gapAhead = 0
  head.moved = { at: now, clock: counters.clock, bytes: (head.moved?.bytes ?? 0) + bytes }
}

/** Sent without waiting; the turn's COMMIT follows at once. */
function write(tx: Tx, rows: readonly NewRow[], heads: readonly Head[]): void {
  tx.send(
    `INSERT INTO message (account, session, seq, created_at, crc, local_id, sealed)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])`,
    [
      rows.map(({ accountKey }) => accountKey),
      rows.map(({ sessionKey }) => sessionKey),
      rows.map(({ seq }) => seq),
      rows.map(({ createdAt }) => createdAt),
      rows.map(({ sessionKey, seq, sealed }) => checksumOf(sessionKey, seq, sealed)),
      rows.map(({ localId }) => localId),
      rows.map(({ sealed }) => sealed)
    ]
  )
  const moved = heads.flatMap(({ moved, ...head }) => (moved ? [{ ...head, ...moved }] : []))
  tx.send(
    `UPDATE session SET last_seq = moved.last_seq, updated_at = moved.at, clock = moved.clock, bytes = session.bytes + moved.bytes,
       gaps = gaps + gap_ahead, gap_ahead = 0
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS moved (key, last_seq, at, clock, bytes)
     WHERE session.key = moved.key`,
    [
      moved.map(({ sessionKey }) => sessionKey),
      moved.map(({ lastSeq }) => lastSeq),
      moved.map(({ at }) => at),
      moved.map(({ clock }) => clock),
      moved.map(({ bytes }) => bytes)
    ]
  )
  const accounts = [...new Map(moved.map(({ accountKey, counters }) => [accountKey, counters]))]
  tx.send(
    `UPDATE account SET clock = moved.clock, messages = moved.messages, bytes = moved.bytes
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS moved (key, clock, messages, bytes) WHERE account.key = moved.key`,
    [
      accounts.map(([key]) => key),
      accounts.map(([, { clock }]) => clock),
      accounts.map(([, { messages }]) => messages),
      accounts.map(([, { bytes }]) => bytes)
    ]
  )
}
