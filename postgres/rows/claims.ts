import { dueDelivery, endOf, furthestAheadMs, type KeptDelivery, mostLookedAt } from '../../lib/store/deliveries.ts'
import type { DueDelivery, NoticeStore } from '../../lib/store/notices.ts'
import type { Tx } from '../engine/deps.ts'

const bringBack = `UPDATE delivery SET due_at = $1
  WHERE key IN (SELECT key FROM delivery WHERE channel_kind = $2 AND due_at > $3 FOR UPDATE SKIP LOCKED)`
// What another instance claims, or its account settles, at this moment is locked, and skipped.
const due = `SELECT delivery.key, account.id AS account, token, delivery.channel, receipt, what, outcome, ticket, attempts,
    is_silent AS "isSilent", is_collected AS "isCollected", unless_watched AS "unlessWatched", notifications AS settings, notice.id,
    notice.kind, notice.session, notice.title, notice.body, preview, notice.created_at AS "createdAt", notice.expires_at AS "expiresAt",
    CASE WHEN EXISTS (SELECT FROM leftover
        WHERE leftover.kind = 'session' AND leftover.account = notice.account AND leftover.id = notice.session)
      THEN 0 ELSE settled_at END AS "settledAt"
  FROM (
    SELECT key, row_number() OVER (PARTITION BY account ORDER BY due_at, key) AS place FROM (
      SELECT key, account, due_at FROM delivery
      WHERE channel_kind = $1 AND due_at <= $2 AND account NOT IN (SELECT key FROM account WHERE id = ANY($3))
      ORDER BY due_at LIMIT ${mostLookedAt}) AS soonest
  ) AS first
  JOIN delivery ON delivery.key = first.key
  JOIN notice ON notice.key = delivery.notice
  JOIN account ON account.key = delivery.account
  LEFT JOIN push_token ON push_token.account = delivery.account AND push_token.id = delivery.channel
  LEFT JOIN device ON device.key = push_token.device
  WHERE place <= $4 AND channel_kind = $1 AND due_at <= $2 ORDER BY due_at, delivery.key LIMIT $5
  FOR UPDATE OF delivery SKIP LOCKED`
// One digest covers all that were collected for its channel.
const collect = `UPDATE delivery SET due_at = NULL, outcome = 'collected' WHERE key IN (
    SELECT other.key FROM delivery AS other JOIN delivery AS claimed ON claimed.account = other.account AND claimed.channel = other.channel
    WHERE claimed.key = $1 AND other.key <> $1 AND other.is_collected AND other.what = 'show' AND other.outcome = 'waiting'
      AND other.due_at <= $2 FOR UPDATE OF other SKIP LOCKED)
  RETURNING key`

export async function claimDeliveries(
  tx: Tx,
  { kind, now, heldUntil, limit, ofAnAccount, busy }: Parameters<NoticeStore['claimDeliveries']>[0]
): Promise<DueDelivery[]> {
  await tx.run(bringBack, [now, kind, now + furthestAheadMs])
  const collected = new Set<number>()
  const claimed: DueDelivery[] = []
  for (const row of await tx.all<KeptDelivery>(due, [kind, now, busy, ofAnAccount, limit])) {
    if (collected.has(row.key)) continue
    const isLook = row.what === 'show' && row.outcome === 'accepted'
    const end = endOf(row, isLook, now)
    if (end) {
      stop(tx, row.key, end)
      continue
    }
    tx.send('UPDATE delivery SET due_at = $1, attempts = attempts + 1 WHERE key = $2', [heldUntil, row.key])
    if (row.isCollected && row.what === 'show' && !isLook) {
      for (const { key } of await tx.all<{ key: number }>(collect, [row.key, now])) collected.add(key)
    }
    claimed.push(dueDelivery(row, isLook ? 'look' : row.what))
  }
  return claimed
}

function stop(tx: Tx, key: number, outcome: string): void {
  tx.send('UPDATE delivery SET due_at = NULL, outcome = $1 WHERE key = $2', [outcome, key])
}
