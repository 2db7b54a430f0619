import type { Database } from 'better-sqlite3'
import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { Counters } from '../../lib/store/drafts.ts'
import type { Tail } from '../engine/commit-queue.ts'

/** Where the numbers of a session stand. The keys are those of its rows. */
export interface SessionHead {
  accountKey: number
  sessionKey: number
  lastSeq: number
  /**
   * Numbers that the next message skips, because they may have been assigned before a backup was
   * restored.
   */
  gapAhead: number
}
export interface OpenHead extends SessionHead {
  counters: Counters
}

export interface SessionHeads extends Tail {
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
export function sessionHeads(database: Database): SessionHeads {
  // A search of one table by a whole unique key is planned once. A join is planned again at each call,
  // because the driver clears the bindings that the planner used; that costs ten times as much as the
  // search.
  const find = database.prepare<[AccountId, SessionId], SessionHead>(
    'SELECT account AS accountKey, key AS sessionKey, last_seq AS lastSeq, gap_ahead AS gapAhead FROM session WHERE account = (SELECT key FROM account WHERE id = ?) AND id = ?'
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

  function countersOf(accountKey: number): Counters {
    const opened = countersByAccount.get(accountKey)
    if (opened) return opened
    const counters = findCounters.get(accountKey)
    if (!counters) throw new Error('The account does not exist')
    countersByAccount.set(accountKey, counters)
    return counters
  }

  function forget(): void {
    headByName.clear()
    countersByAccount.clear()
  }

  return {
    find: (account, session) => find.get(account, session),
    open(account, session) {
      const name = `${account} ${session}`
      const opened = headByName.get(name)
      if (opened) return opened
      const head = find.get(account, session)
      if (!head) return undefined
      const open = { ...head, counters: countersOf(head.accountKey), moved: undefined }
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
      if (head.gapAhead > 0) closeGap.run(head.accountKey, head.sessionKey)
      head.lastSeq += head.gapAhead + added.messages
      head.gapAhead = 0
      head.moved = { at: now, clock: counters.clock, bytes: (head.moved?.bytes ?? 0) + added.bytes }
      return counters.clock
    },
    finish() {
      const movedAccounts = new Set<number>()
      for (const { moved, lastSeq, accountKey, sessionKey } of headByName.values()) {
        if (!moved) continue
        moveSession.run(lastSeq, moved.at, moved.clock, moved.bytes, accountKey, sessionKey)
        movedAccounts.add(accountKey)
      }
      for (const accountKey of movedAccounts) {
        const { clock, messages, bytes } = countersOf(accountKey)
        moveAccount.run(clock, messages, bytes, accountKey)
      }
      forget()
    },
    forget
  }
}
