import type { AccountId, AttachmentId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { type AttachmentStore, type Upload, uploadState, uploadStateOr } from '../../lib/store/attachments.ts'
import { checksumOf } from '../../lib/store/checksum.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { RemovalStore } from '../../lib/store/removal.ts'
import type { Deps } from '../engine/deps.ts'
import { leftovers, pieceMs } from '../engine/leftovers.ts'
import { byteQuota } from '../engine/quotas.ts'

interface Row extends Upload {
  key: number
  account: number
  endsAt: number | null
}
interface Piece {
  at: number
  bytes: Buffer
  crc: number | null
}

const accountKey = '(SELECT key FROM account WHERE id = ?)'
const sessionKey = `(SELECT key FROM session WHERE account = ${accountKey} AND id = ?)`

/**
 * Sealed files of sessions. Pieces are appended and never changed, so that readers never conflict with
 * each other.
 */
export function attachments({ database, queue, damage }: Deps): AttachmentStore & Pick<RemovalStore, 'sweepLeftovers'> {
  const open = database.prepare<[AttachmentId, number, number, number, AccountId, SessionId]>(
    `INSERT INTO attachment (account, session, id, size, created_at, ends_at)
     SELECT account, key, ?, ?, ?, ? FROM session WHERE account = ${accountKey} AND id = ?`
  )
  const find = database.prepare<[AccountId, AccountId, SessionId, AttachmentId], Row>(
    `SELECT key, account, size, received, attempt, sha256, ends_at AS endsAt FROM attachment
     WHERE account = ${accountKey} AND session = ${sessionKey} AND id = ?`
  )
  const restart = database.prepare<[number, number]>(
    'UPDATE attachment SET received = 0, attempt = attempt + 1 WHERE account = ? AND key = ?'
  )
  const extend = database.prepare<[number, number, number, number]>(
    'UPDATE attachment SET received = ?, ends_at = ? WHERE account = ? AND key = ?'
  )
  const complete = database.prepare<[string, number, number]>(
    'UPDATE attachment SET size = received, sha256 = ?, ends_at = NULL WHERE account = ? AND key = ?'
  )
  const insertPiece = database.prepare<[number, number, number, Uint8Array, number]>(
    'INSERT INTO attachment_piece (account, attachment, at, bytes, crc) VALUES (?, ?, ?, ?, ?)'
  )
  const findPiece = database.prepare<[number, number, number], Piece>(
    'SELECT at, bytes, crc FROM attachment_piece WHERE account = ? AND attachment = ? AND at <= ? ORDER BY at DESC LIMIT 1'
  )
  const removePieces = database.prepare<[number, number]>('DELETE FROM attachment_piece WHERE account = ? AND attachment = ?')
  const findEnded = database.prepare<[number], Row>(
    'SELECT key, account, received FROM attachment WHERE ends_at IS NOT NULL AND ends_at <= ? LIMIT 1'
  )
  const remove = database.prepare<[number, number]>('DELETE FROM attachment WHERE account = ? AND key = ?')
  const count = database.prepare<[number, number]>('UPDATE account SET attachment_bytes = attachment_bytes + ? WHERE key = ?')
  const counted = database.prepare<[AccountId], number>('SELECT attachment_bytes FROM account WHERE id = ?').pluck()

  const mayKeep = byteQuota(database)
  const rest = leftovers(database)

  function findOpen(account: AccountId, session: SessionId, id: AttachmentId, now: number): Row | undefined {
    const row = find.get(account, account, session, id)
    return row && (row.endsAt === null || row.endsAt > now) ? row : undefined
  }

  function forgetPieces({ account, key, received }: Row): void {
    removePieces.run(account, key)
    count.run(-received, account)
  }

  function sweepEnded(now: number): boolean {
    const row = findEnded.get(now)
    if (!row) return false
    forgetPieces(row)
    remove.run(row.account, row.key)
    return true
  }

  return {
    openUpload: (account, session, { id, size, now, endsAt }, quotas = noQuotas) =>
      queue.write(() => {
        if (open.run(id, size, now, endsAt, account, session).changes === 0) return 'missing'
        mayKeep(account, size, quotas)
        return 'opened'
      }),
    findUpload: (account, session, id, now) => queue.read(() => uploadStateOr(findOpen(account, session, id, now))),
    restartUpload: (account, session, id, now) =>
      queue.write(() => {
        const row = findOpen(account, session, id, now)
        if (!row || row.sha256 !== null) return uploadStateOr(row)
        forgetPieces(row)
        restart.run(row.account, row.key)
        return uploadState({ ...row, received: 0, attempt: row.attempt + 1 })
      }),
    appendPiece: (account, session, id, { attempt, at, bytes, now, endsAt }, quotas = noQuotas) =>
      queue.write(
        () => {
          const row = findOpen(account, session, id, now)
          if (!row) return 'missing'
          if (row.sha256 !== null || row.attempt !== attempt || row.received !== at) return { ...uploadState(row), taken: false }
          mayKeep(account, bytes.length, quotas)
          const received = at + bytes.length
          insertPiece.run(row.account, row.key, at, bytes, checksumOf(row.key, at, bytes))
          extend.run(received, endsAt, row.account, row.key)
          count.run(bytes.length, row.account)
          return { ...uploadState({ ...row, received }), taken: true }
        },
        { bytes: bytes.length }
      ),
    completeUpload: (account, session, id, { attempt, received, sha256, now }) =>
      queue.write(() => {
        const row = findOpen(account, session, id, now)
        if (!row) return 'missing'
        if (row.sha256 !== null || row.attempt !== attempt || row.received !== received) return { ...uploadState(row), taken: false }
        complete.run(sha256, row.account, row.key)
        return { ...uploadState({ ...row, size: received, sha256 }), taken: true }
      }),
    readPiece: (account, session, id, at) =>
      queue.read(() => {
        const row = find.get(account, account, session, id)
        const piece = row && findPiece.get(row.account, row.key, at)
        if (!piece) return row ? new Uint8Array() : 'missing'
        const { at: begin, bytes, crc } = piece
        if (crc !== null && crc !== checksumOf(row.key, begin, bytes)) throw damage.note(`attachment_piece ${begin} of ${row.key}`)
        return bytes.subarray(at - begin)
      }),
    sweepLeftovers: now =>
      queue.write(
        () => {
          const until = performance.now() + pieceMs
          let isSwept = false
          while (performance.now() < until && sweepEnded(now)) isSwept = true
          return isSwept || rest.sweep() ? 'more' : 'done'
        },
        { isLong: true }
      ),
    readAttachmentBytes: account => queue.read(() => counted.get(account) ?? 0)
  }
}
