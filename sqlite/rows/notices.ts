import type { AccountId, DeviceId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { ChannelKind, NotificationSettings } from '../../lib/protocol/wire/notifications.ts'
import {
  clearOf,
  dueDelivery,
  endOf,
  furthestAheadMs,
  type KeptDelivery,
  mostLookedAt,
  noticeBytes,
  type ShownDelivery,
  settingsOf
} from '../../lib/store/deliveries.ts'
import type {
  ChannelRow,
  DeliveryDraft,
  DeliveryResult,
  DeliveryRow,
  DueDelivery,
  NoticeDraft,
  NoticeStore
} from '../../lib/store/notices.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Deps } from '../engine/deps.ts'
import { rowQuota, stateQuota } from '../engine/quotas.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'

/** Notifications to phones, and their results. */
export function notices({ database, queue }: Deps): NoticeStore {
  const channels = openChannels(database)
  const add = openAdding(database)
  const settle = openSettling(database)
  const claim = openClaims(database)
  const end = openEnds(database)
  const rows = openRows(database)
  const makeRoom = openRoom(database)
  const within = stateQuota(database)

  return {
    listChannels: account => queue.read(() => channels.list(account)),
    removeChannel: (account, id) => queue.write(() => channels.remove(account, id)),
    readNotificationSettings: (account, device) => queue.read(() => channels.readSettings(account, device)),
    writeNotificationSettings: (account, device, settings) => queue.write(() => channels.writeSettings(account, device, settings)),
    addNotice: (account, draft, quotas = noQuotas) =>
      queue.write(
        () =>
          within(account, quotas, () => {
            const added = add(account, draft)
            makeRoom(account, quotas.notices)
            return added
          }),
        { bytes: noticeBytes(draft) }
      ),
    settleNotices: (account, ask, quotas = noQuotas) =>
      queue.write(() =>
        within(account, quotas, () => {
          const settled = settle(account, ask)
          makeRoom(account, quotas.notices)
          return settled
        })
      ),
    claimDeliveries: ask => queue.write(() => claim(ask)),
    endDeliveries: (results, clears) =>
      queue.write(() => {
        for (const result of results) end(result, clears)
      }),
    nextDelivery: kind => queue.read(() => rows.next(kind)),
    acknowledgeDelivery: (account, device, receipt, now) => queue.write(() => rows.acknowledge(account, device, receipt, now)),
    listDeliveries: (account, since, limit) => queue.read(() => rows.list(account, since, limit)),
    findDeliveries: (account, notice) => queue.read(() => rows.find(account, notice)),
    forgetNotices: (before, limit) => queue.write(() => rows.forget(before, limit))
  }
}

/** Removes the oldest of an account that has too many: some at once, since it takes a while to find them. */
function openRoom(database: Deps['database']): (account: AccountId, most: number) => void {
  const has = rowQuota(database, 'notice')
  const removeOldest = database.prepare<[AccountId, number]>(
    `DELETE FROM notice WHERE key IN (SELECT key FROM notice WHERE account = ${accountKey} ORDER BY key LIMIT ?)`
  )
  return (account, most) => {
    if (has(account, most + 1)) removeOldest.run(account, Math.ceil(most / 100))
  }
}

function openChannels(database: Deps['database']) {
  const list = database.prepare<[AccountId], Omit<ChannelRow, 'settings'> & { settings: string | null }>(
    `SELECT push_token.id, token, push_token.created_at AS createdAt, updated_at AS updatedAt, device.id AS device, device.name AS deviceName,
       notifications AS settings
     FROM push_token LEFT JOIN device ON device.key = push_token.device
     WHERE push_token.account = ${accountKey} ORDER BY push_token.created_at DESC, push_token.id`
  )
  const remove = database.prepare<[AccountId, string]>(`DELETE FROM push_token WHERE account = ${accountKey} AND id = ?`)
  const read = database
    .prepare<[AccountId, DeviceId], string | null>(`SELECT notifications FROM device WHERE account = ${accountKey} AND id = ?`)
    .pluck()
  const write = database.prepare<[string, AccountId, DeviceId]>(
    `UPDATE device SET notifications = ? WHERE account = ${accountKey} AND id = ?`
  )

  return {
    list: (account: AccountId): ChannelRow[] => list.all(account).map(row => ({ ...row, settings: settingsOf(row.settings) })),
    remove(account: AccountId, id: string): void {
      remove.run(account, id)
    },
    readSettings: (account: AccountId, device: DeviceId) => settingsOf(read.get(account, device) ?? null),
    writeSettings: (account: AccountId, device: DeviceId, settings: NotificationSettings) =>
      write.run(JSON.stringify(settings), account, device).changes > 0 ? ('written' as const) : ('missing' as const)
  }
}

function openAdding(database: Deps['database']) {
  const insert = database
    .prepare<[AccountId, string, string, string | null, string, string, string | null, number, number], number>(
      `INSERT INTO notice (account, id, kind, session, title, body, preview, created_at, expires_at)
       VALUES (${accountKey}, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING key`
    )
    .pluck()
  const deliver = insertDelivery(database)

  return (account: AccountId, draft: NoticeDraft): 'added' | 'known' => {
    const { id, kind, session, title, body, preview, now, expiresAt, deliveries } = draft
    const key = insert.get(account, id, kind, session, title, body, preview, now, expiresAt)
    if (key === undefined) return 'known'
    for (const delivery of deliveries) deliver(key, 'show', delivery)
    return 'added'
  }
}

function insertDelivery(database: Deps['database']) {
  const insert = database.prepare<[number, string, string, string, string, number, number, number, number, number]>(
    `INSERT INTO delivery (notice, account, channel, channel_kind, what, receipt, is_silent, is_collected, unless_watched, due_at)
     SELECT ?, account, ?, ?, ?, ?, ?, ?, ?, ? FROM notice WHERE key = ?`
  )
  return (notice: number, what: 'show' | 'clear', draft: DeliveryDraft): void => {
    const { channel, channelKind, receipt, isSilent, isCollected, unlessWatched, dueAt } = draft
    insert.run(notice, channel, channelKind, what, receipt, Number(isSilent), Number(isCollected), Number(unlessWatched), dueAt, notice)
  }
}

function openSettling(database: Deps['database']) {
  const remember = database.prepare<[AccountId, string, SessionId, number, number]>(
    `INSERT INTO notice (account, id, kind, session, title, body, created_at, expires_at)
     VALUES (${accountKey}, ?, 'settled', ?, '', '', ?, ?) ON CONFLICT DO NOTHING`
  )
  const settle = database.prepare<[number, AccountId, SessionId, string | null, string | null], { key: number; id: string }>(
    `UPDATE notice SET settled_at = ? WHERE account = ${accountKey} AND session = ? AND (? IS NULL OR id = ?) AND settled_at IS NULL RETURNING key, id`
  )
  const cancel = database.prepare<[number]>(
    `UPDATE delivery SET due_at = NULL, outcome = 'settled' WHERE notice = ? AND what = 'show' AND outcome = 'waiting'`
  )
  const shown = database.prepare<[number], ShownDelivery>(
    `SELECT channel, channel_kind AS channelKind, receipt FROM delivery WHERE notice = ? AND what = 'show' AND outcome IN ('accepted', 'arrived')`
  )
  const deliver = insertDelivery(database)

  return (account: AccountId, { session, id, clears, now }: Parameters<NoticeStore['settleNotices']>[1]) => {
    if (id !== undefined) remember.run(account, id, session, now, now)
    const settled = settle.all(now, account, session, id ?? null, id ?? null)
    for (const { key } of settled) {
      cancel.run(key)
      for (const row of shown.all(key)) if (clears.includes(row.channelKind)) deliver(key, 'clear', clearOf(row, now))
    }
    return { settled: settled.map(({ id }) => id) }
  }
}

function openClaims(database: Deps['database']) {
  const bringBack = database.prepare<[number, ChannelKind, number]>('UPDATE delivery SET due_at = ? WHERE channel_kind = ? AND due_at > ?')
  const due = database.prepare<[ChannelKind, number, string, number, number], KeptDelivery>(
    `SELECT delivery.key, account.id AS account, token, delivery.channel, receipt, what, outcome, ticket, attempts, is_silent AS isSilent,
       is_collected AS isCollected, unless_watched AS unlessWatched, notifications AS settings, notice.id, notice.kind, notice.session,
       notice.title, notice.body, preview, notice.created_at AS createdAt, notice.expires_at AS expiresAt,
       CASE WHEN EXISTS (SELECT 1 FROM leftover WHERE kind = 'session' AND leftover.account = notice.account AND leftover.id = notice.session)
         THEN 0 ELSE settled_at END AS settledAt
     FROM (
       SELECT key, row_number() OVER (PARTITION BY account ORDER BY due_at, key) AS place FROM (
         SELECT key, account, due_at FROM delivery
         WHERE channel_kind = ? AND due_at <= ? AND account NOT IN (SELECT key FROM account WHERE id IN (SELECT value FROM json_each(?)))
         ORDER BY due_at LIMIT ${mostLookedAt})
     ) AS first
     JOIN delivery ON delivery.key = first.key
     JOIN notice ON notice.key = delivery.notice
     JOIN account ON account.key = delivery.account
     LEFT JOIN push_token ON push_token.account = delivery.account AND push_token.id = delivery.channel
     LEFT JOIN device ON device.key = push_token.device
     WHERE place <= ? ORDER BY due_at, delivery.key LIMIT ?`
  )
  const hold = database.prepare<[number, number]>('UPDATE delivery SET due_at = ?, attempts = attempts + 1 WHERE key = ?')
  // One digest covers all that were collected for its channel.
  const collect = database
    .prepare<[number, number, number, number], number>(
      `UPDATE delivery SET due_at = NULL, outcome = 'collected'
       WHERE account = (SELECT account FROM delivery WHERE key = ?) AND channel = (SELECT channel FROM delivery WHERE key = ?)
         AND key <> ? AND is_collected = 1 AND what = 'show' AND outcome = 'waiting' AND due_at <= ? RETURNING key`
    )
    .pluck()
  const stop = database.prepare<[string, number]>('UPDATE delivery SET due_at = NULL, outcome = ? WHERE key = ?')

  return ({ kind, now, heldUntil, limit, ofAnAccount, busy }: Parameters<NoticeStore['claimDeliveries']>[0]): DueDelivery[] => {
    bringBack.run(now, kind, now + furthestAheadMs)
    const collected = new Set<number>()
    return due.all(kind, now, JSON.stringify(busy), ofAnAccount, limit).flatMap(row => {
      if (collected.has(row.key)) return []
      const isLook = row.what === 'show' && row.outcome === 'accepted'
      const end = endOf(row, isLook, now)
      if (end) {
        stop.run(end, row.key)
        return []
      }
      hold.run(heldUntil, row.key)
      if (row.isCollected === 1 && row.what === 'show' && !isLook) {
        for (const key of collect.all(row.key, row.key, row.key, now)) collected.add(key)
      }
      return [dueDelivery(row, isLook ? 'look' : row.what)]
    })
  }
}

function openEnds(database: Deps['database']) {
  // One settled meanwhile is no longer due.
  const again = database.prepare<[string | null, number, number, number]>(
    'UPDATE delivery SET reason = ?, due_at = ? WHERE key = ? AND attempts = ? AND due_at IS NOT NULL'
  )
  // An arrival may be acknowledged before the provider's own answer is here.
  const end = database.prepare<[string, string | null, string | null, number | null, number, number]>(
    `UPDATE delivery SET outcome = CASE WHEN arrived_at IS NULL THEN ? ELSE 'arrived' END, reason = ?, ticket = coalesce(?, ticket), due_at = ?,
       sent_at = coalesce(sent_at, ?)
     WHERE key = ?`
  )
  const removeToken = database.prepare<[number, number]>(
    'DELETE FROM push_token WHERE account = (SELECT account FROM delivery WHERE key = ?) AND id = (SELECT channel FROM delivery WHERE key = ?)'
  )
  const settledMeanwhile = database.prepare<[number], ShownDelivery & { notice: number }>(
    `SELECT notice, channel, channel_kind AS channelKind, receipt FROM delivery
     WHERE key = ? AND what = 'show' AND (SELECT settled_at FROM notice WHERE key = notice) IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM delivery AS other WHERE other.receipt = delivery.receipt || '-clear')`
  )
  const deliver = insertDelivery(database)

  return (result: DeliveryResult, clears: readonly ChannelKind[]): void => {
    if (result.outcome === 'waiting') {
      again.run(result.reason, result.dueAt, result.key, result.attempts)
      return
    }
    const { key, outcome, reason, ticket = null, lookAt = null, at } = result
    end.run(outcome, reason, ticket, lookAt, at, key)
    if (outcome === 'gone') removeToken.run(key, key)
    const shown = outcome === 'accepted' ? settledMeanwhile.get(key) : undefined
    if (shown && clears.includes(shown.channelKind)) deliver(shown.notice, 'clear', clearOf(shown, at))
  }
}

function openRows(database: Deps['database']) {
  const next = database
    .prepare<[ChannelKind], number>('SELECT due_at FROM delivery WHERE channel_kind = ? AND due_at IS NOT NULL ORDER BY due_at LIMIT 1')
    .pluck()
  const acknowledge = database.prepare<[number, string, AccountId, AccountId, DeviceId]>(
    `UPDATE delivery SET outcome = 'arrived', arrived_at = ?, due_at = NULL
     WHERE receipt = ? AND account = ${accountKey} AND arrived_at IS NULL AND what = 'show' AND channel IN (
       SELECT push_token.id FROM push_token JOIN device ON device.key = push_token.device
       WHERE push_token.account = ${accountKey} AND device.id = ?)`
  )
  const columns = `SELECT channel, kind, outcome, reason, created_at AS createdAt, sent_at AS sentAt, arrived_at AS arrivedAt
     FROM delivery JOIN notice ON notice.key = delivery.notice`
  const list = database.prepare<[AccountId, number, number], DeliveryRow>(
    `${columns} WHERE delivery.account = ${accountKey} AND what = 'show' AND created_at >= ? ORDER BY delivery.key DESC LIMIT ?`
  )
  const find = database.prepare<[AccountId, string], DeliveryRow>(
    `${columns} WHERE notice.account = ${accountKey} AND notice.id = ? AND what = 'show' ORDER BY delivery.key`
  )
  const forget = database.prepare<[number, number]>(
    'DELETE FROM notice WHERE key IN (SELECT key FROM notice WHERE created_at < ? ORDER BY created_at LIMIT ?)'
  )

  return {
    next: (kind: ChannelKind) => next.get(kind),
    acknowledge: (account: AccountId, device: DeviceId, receipt: string, now: number) =>
      acknowledge.run(now, receipt, account, account, device).changes > 0 ? ('arrived' as const) : ('missing' as const),
    list: (account: AccountId, since: number, limit: number) => list.all(account, since, limit),
    find: (account: AccountId, notice: string) => find.all(account, notice),
    forget: (before: number, limit: number) => forget.run(before, limit).changes
  }
}
