import type { AccountId, DeviceId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { ChannelKind, NotificationSettings } from '../../lib/protocol/wire/notifications.ts'
import { clearOf, noticeBytes, type ShownDelivery, settingsOf } from '../../lib/store/deliveries.ts'
import type { ChannelRow, DeliveryDraft, DeliveryResult, DeliveryRow, NoticeDraft, NoticeStore } from '../../lib/store/notices.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { hasRows, withinState } from '../engine/quotas.ts'
import { claimDeliveries } from './claims.ts'

const accountKey = '(SELECT key FROM account WHERE id = $1)'

/** Notifications to phones, and their results. */
export function notices({ write, read }: Deps): NoticeStore {
  return {
    listChannels: account => read(queries => listChannels(queries, account)),
    removeChannel: (account, id) =>
      write(account, async tx => {
        await tx.run(`DELETE FROM push_token WHERE account = ${accountKey} AND id = $2`, [account, id])
      }),
    readNotificationSettings: (account, device) => read(queries => readSettings(queries, account, device)),
    writeNotificationSettings: (account, device, settings) =>
      write(account, async tx => {
        const sql = `UPDATE device SET notifications = $3 WHERE account = ${accountKey} AND id = $2`
        return (await tx.run(sql, [account, device, JSON.stringify(settings)])) > 0 ? 'written' : 'missing'
      }),
    addNotice: (account, draft, quotas = noQuotas) =>
      write(
        account,
        tx =>
          withinState(tx, account, quotas, async () => {
            const added = await add(tx, account, draft)
            await makeRoom(tx, account, quotas.notices)
            return added
          }),
        { bytes: noticeBytes(draft) }
      ),
    settleNotices: (account, ask, quotas = noQuotas) =>
      write(account, tx =>
        withinState(tx, account, quotas, async () => {
          const settled = await settle(tx, account, ask)
          await makeRoom(tx, account, quotas.notices)
          return settled
        })
      ),
    claimDeliveries: ask => write('shared', tx => claimDeliveries(tx, ask)),
    endDeliveries: (results, clears) =>
      write('shared', async tx => {
        await lockAccountsOf(tx, results)
        for (const result of results) await end(tx, result, clears)
      }),
    nextDelivery: kind =>
      read(async queries => {
        const sql = 'SELECT due_at AS at FROM delivery WHERE channel_kind = $1 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1'
        return (await queries.get<{ at: number }>(sql, [kind]))?.at
      }),
    acknowledgeDelivery: (account, device, receipt, now) =>
      write(account, async tx => ((await tx.run(acknowledge, [account, device, receipt, now])) > 0 ? 'arrived' : 'missing')),
    listDeliveries: (account, since, limit) => read(queries => queries.all<DeliveryRow>(list, [account, since, limit])),
    findDeliveries: (account, notice) => read(queries => queries.all<DeliveryRow>(find, [account, notice])),
    forgetNotices: (before, limit) =>
      write('shared', async tx => {
        const old = await tx.all<{ key: number; account: number }>(
          'SELECT key, account FROM notice WHERE created_at < $1 ORDER BY created_at LIMIT $2',
          [before, limit]
        )
        // Before its rows, like every other write: their removal moves what the account counts.
        await lockAccounts(
          tx,
          old.map(({ account }) => account)
        )
        return tx.run('DELETE FROM notice WHERE key = ANY($1)', [old.map(({ key }) => key)])
      })
  }
}

const columns = `SELECT channel, kind, outcome, reason, created_at AS "createdAt", sent_at AS "sentAt", arrived_at AS "arrivedAt"
  FROM delivery JOIN notice ON notice.key = delivery.notice`
const list = `${columns} WHERE delivery.account = ${accountKey} AND what = 'show' AND created_at >= $2 ORDER BY delivery.key DESC LIMIT $3`
const find = `${columns} WHERE notice.account = ${accountKey} AND notice.id = $2 AND what = 'show' ORDER BY delivery.key`
const acknowledge = `UPDATE delivery SET outcome = 'arrived', arrived_at = $4, due_at = NULL
  WHERE receipt = $3 AND account = ${accountKey} AND arrived_at IS NULL AND what = 'show' AND channel IN (
    SELECT push_token.id FROM push_token JOIN device ON device.key = push_token.device
    WHERE push_token.account = ${accountKey} AND device.id = $2)`

/** Removes the oldest of an account that has too many: some at once, since it takes a while to find them. */
async function makeRoom(tx: Tx, account: AccountId, most: number): Promise<void> {
  if (!(await hasRows(tx, 'notice', account, most + 1))) return
  await tx.run(`DELETE FROM notice WHERE key IN (SELECT key FROM notice WHERE account = ${accountKey} ORDER BY key LIMIT $2)`, [
    account,
    Math.ceil(most / 100)
  ])
}

async function listChannels(queries: Queries, account: AccountId): Promise<ChannelRow[]> {
  const rows = await queries.all<Omit<ChannelRow, 'settings'> & { settings: string | null }>(
    `SELECT push_token.id, token, push_token.created_at AS "createdAt", updated_at AS "updatedAt", device.id AS device,
       device.name AS "deviceName", notifications AS settings
     FROM push_token LEFT JOIN device ON device.key = push_token.device
     WHERE push_token.account = ${accountKey} ORDER BY push_token.created_at DESC, push_token.id`,
    [account]
  )
  return rows.map(row => ({ ...row, settings: settingsOf(row.settings) }))
}

async function readSettings(queries: Queries, account: AccountId, device: DeviceId): Promise<NotificationSettings | null> {
  const sql = `SELECT notifications AS settings FROM device WHERE account = ${accountKey} AND id = $2`
  return settingsOf((await queries.get<{ settings: string | null }>(sql, [account, device]))?.settings ?? null)
}

async function add(tx: Tx, account: AccountId, draft: NoticeDraft): Promise<'added' | 'known'> {
  const { id, kind, session, title, body, preview, now, expiresAt, deliveries } = draft
  const row = await tx.get<{ key: number }>(
    `INSERT INTO notice (account, id, kind, session, title, body, preview, created_at, expires_at)
     VALUES (${accountKey}, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (account, id) DO NOTHING RETURNING key`,
    [account, id, kind, session, title, body, preview, now, expiresAt]
  )
  if (!row) return 'known'
  for (const delivery of deliveries) deliver(tx, row.key, 'show', delivery)
  return 'added'
}

function deliver(tx: Tx, notice: number, what: 'show' | 'clear', draft: DeliveryDraft): void {
  const { channel, channelKind, receipt, isSilent, isCollected, unlessWatched, dueAt } = draft
  tx.send(
    `INSERT INTO delivery (notice, account, channel, channel_kind, what, receipt, is_silent, is_collected, unless_watched, due_at)
     SELECT key, account, $2, $3, $4, $5, $6, $7, $8, $9 FROM notice WHERE key = $1`,
    [notice, channel, channelKind, what, receipt, isSilent, isCollected, unlessWatched, dueAt]
  )
}

async function settle(tx: Tx, account: AccountId, { session, id, clears, now }: Parameters<NoticeStore['settleNotices']>[1]) {
  if (id !== undefined) await rememberSettled(tx, account, session, id, now)
  const settled = await tx.all<{ key: number; id: string }>(
    `UPDATE notice SET settled_at = $3 WHERE account = ${accountKey} AND session = $2 AND ($4::text IS NULL OR id = $4)
       AND settled_at IS NULL RETURNING key, id`,
    [account, session, now, id ?? null]
  )
  const inOrder = settled.toSorted((one, other) => one.key - other.key)
  for (const { key } of inOrder) {
    tx.send(`UPDATE delivery SET due_at = NULL, outcome = 'settled' WHERE notice = $1 AND what = 'show' AND outcome = 'waiting'`, [key])
    const shown = await tx.all<ShownDelivery>(
      `SELECT channel, channel_kind AS "channelKind", receipt FROM delivery
       WHERE notice = $1 AND what = 'show' AND outcome IN ('accepted', 'arrived') ORDER BY key`,
      [key]
    )
    for (const row of shown) if (clears.includes(row.channelKind)) deliver(tx, key, 'clear', clearOf(row, now))
  }
  return { settled: inOrder.map(({ id }) => id) }
}

async function rememberSettled(tx: Tx, account: AccountId, session: SessionId, id: string, now: number): Promise<void> {
  await tx.run(
    `INSERT INTO notice (account, id, kind, session, title, body, created_at, expires_at)
     VALUES (${accountKey}, $2, 'settled', $3, '', '', $4, $4) ON CONFLICT (account, id) DO NOTHING`,
    [account, id, session, now]
  )
}

// An attempt may end while its notice is being settled: one of the two sees what the other did.
async function lockAccountsOf(tx: Tx, results: readonly DeliveryResult[]): Promise<void> {
  await tx.run(`SELECT FROM account WHERE key IN (SELECT account FROM delivery WHERE key = ANY($1)) ORDER BY key FOR NO KEY UPDATE`, [
    results.map(({ key }) => key)
  ])
}

async function lockAccounts(tx: Tx, keys: readonly number[]): Promise<void> {
  await tx.run('SELECT FROM account WHERE key = ANY($1) ORDER BY key FOR NO KEY UPDATE', [keys])
}

async function end(tx: Tx, result: DeliveryResult, clears: readonly ChannelKind[]): Promise<void> {
  if (result.outcome === 'waiting') {
    // One settled meanwhile is no longer due.
    const { reason, dueAt, key, attempts } = result
    tx.send('UPDATE delivery SET reason = $1, due_at = $2 WHERE key = $3 AND attempts = $4 AND due_at IS NOT NULL', [
      ...[reason, dueAt, key, attempts]
    ])
    return
  }
  const { key, outcome, reason, ticket = null, lookAt = null, at } = result
  // An arrival may be acknowledged before the provider's own answer is here.
  tx.send(
    `UPDATE delivery SET outcome = CASE WHEN arrived_at IS NULL THEN $2 ELSE 'arrived' END, reason = $3, ticket = coalesce($4, ticket),
       due_at = $5, sent_at = coalesce(sent_at, $6)
     WHERE key = $1`,
    [key, outcome, reason, ticket, lookAt, at]
  )
  if (outcome === 'gone') {
    tx.send(
      'DELETE FROM push_token USING delivery WHERE delivery.key = $1 AND push_token.account = delivery.account AND push_token.id = channel',
      [key]
    )
  }
  const shown = outcome === 'accepted' ? await tx.get<ShownDelivery & { notice: number }>(settledMeanwhile, [key]) : undefined
  if (shown && clears.includes(shown.channelKind)) deliver(tx, shown.notice, 'clear', clearOf(shown, at))
}

const settledMeanwhile = `SELECT notice, channel, channel_kind AS "channelKind", receipt FROM delivery
  WHERE key = $1 AND what = 'show' AND (SELECT settled_at FROM notice WHERE notice.key = delivery.notice) IS NOT NULL
    AND NOT EXISTS (SELECT FROM delivery AS other WHERE other.receipt = delivery.receipt || '-clear')`
