import type { AccountId, AttachmentId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { type AttachmentStore, type Upload, uploadState, uploadStateOr } from '../../lib/store/attachments.ts'
import { checksumOf } from '../../lib/store/checksum.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { RemovalStore } from '../../lib/store/removal.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { pieceMs, sweepNext } from '../engine/leftovers.ts'
import { mayKeep } from '../engine/quotas.ts'

interface Row extends Upload {
  key: number
  account: number
  endsAt: number | null
}
/** Null of an attachment that has none there. */
type Piece = { key: number } & ({ at: number; bytes: Buffer; crc: number } | { at: null })

const accountKey = '(SELECT key FROM account WHERE id = $1)'
const isIt = `attachment.account = ${accountKey} AND session = (SELECT key FROM session WHERE account = ${accountKey} AND id = $2)
  AND attachment.id = $3`
const ended = 'SELECT key, account, received FROM attachment WHERE ends_at <= $1'

/** Sealed files of sessions. Pieces are appended and never changed, so that readers never conflict with each other. */
export function attachments({ write, read, damage }: Deps): AttachmentStore & Pick<RemovalStore, 'sweepLeftovers'> {
  return {
    openUpload: (account, session, { id, size, now, endsAt }, quotas = noQuotas) =>
      write(account, async tx => {
        const opened = await tx.run(
          `INSERT INTO attachment (account, session, id, size, created_at, ends_at)
           SELECT account, key, $3, $4, $5, $6 FROM session WHERE account = ${accountKey} AND id = $2`,
          [account, session, id, size, now, endsAt]
        )
        if (opened === 0) return 'missing'
        await mayKeep(tx, account, size, quotas)
        return 'opened'
      }),
    findUpload: (account, session, id, now) => read(async queries => uploadStateOr(await findOpen(queries, account, session, id, now))),
    restartUpload: (account, session, id, now) =>
      write(account, async tx => {
        const row = await findOpen(tx, account, session, id, now)
        if (!row || row.sha256 !== null) return uploadStateOr(row)
        forgetPieces(tx, row)
        tx.send('UPDATE attachment SET received = 0, attempt = attempt + 1 WHERE key = $1', [row.key])
        return uploadState({ ...row, received: 0, attempt: row.attempt + 1 })
      }),
    appendPiece: (account, session, id, { attempt, at, bytes, now, endsAt }, quotas = noQuotas) =>
      write(
        account,
        async tx => {
          const row = await findOpen(tx, account, session, id, now)
          if (!row) return 'missing'
          if (row.sha256 !== null || row.attempt !== attempt || row.received !== at) return { ...uploadState(row), taken: false }
          await mayKeep(tx, account, bytes.length, quotas)
          const received = at + bytes.length
          tx.send('INSERT INTO attachment_piece (account, attachment, at, bytes, crc) VALUES ($1, $2, $3, $4, $5)', [
            row.account,
            row.key,
            at,
            bytes,
            checksumOf(row.key, at, bytes)
          ])
          tx.send('UPDATE attachment SET received = $1, ends_at = $2 WHERE key = $3', [received, endsAt, row.key])
          count(tx, row.account, bytes.length)
          return { ...uploadState({ ...row, received }), taken: true }
        },
        { bytes: bytes.length }
      ),
    completeUpload: (account, session, id, { attempt, received, sha256, now }) =>
      write(account, async tx => {
        const row = await findOpen(tx, account, session, id, now)
        if (!row) return 'missing'
        if (row.sha256 !== null || row.attempt !== attempt || row.received !== received) return { ...uploadState(row), taken: false }
        tx.send('UPDATE attachment SET size = received, sha256 = $1, ends_at = NULL WHERE key = $2', [sha256, row.key])
        return { ...uploadState({ ...row, size: received, sha256 }), taken: true }
      }),
    readPiece: (account, session, id, at) =>
      read(async queries => {
        const piece = await queries.get<Piece>(
          `SELECT key, at, bytes, crc FROM attachment LEFT JOIN LATERAL (
             SELECT at, bytes, crc FROM attachment_piece AS piece
             WHERE piece.account = attachment.account AND piece.attachment = attachment.key AND at <= $4 ORDER BY at DESC LIMIT 1
           ) AS piece ON true WHERE ${isIt}`,
          [account, session, id, at]
        )
        if (!piece) return 'missing'
        if (piece.at === null) return new Uint8Array()
        if (piece.crc !== checksumOf(piece.key, piece.at, piece.bytes)) throw damage.note(`attachment_piece ${piece.at} of ${piece.key}`)
        return piece.bytes.subarray(at - piece.at)
      }),
    sweepLeftovers: now =>
      write(
        'shared',
        async tx => {
          const until = performance.now() + pieceMs
          let isSwept = false
          while (performance.now() < until && (await sweepEnded(tx, now))) isSwept = true
          return isSwept || (await sweepNext(tx)) ? 'more' : 'done'
        },
        { isLong: true }
      ),
    readAttachmentBytes: account =>
      read(async queries => {
        const row = await queries.get<{ bytes: number }>('SELECT attachment_bytes AS bytes FROM account WHERE id = $1', [account])
        return row?.bytes ?? 0
      })
  }
}

async function findOpen(queries: Queries, account: AccountId, session: SessionId, id: AttachmentId, now: number): Promise<Row | undefined> {
  const row = await queries.get<Row>(
    `SELECT key, account, size, received, attempt, sha256, ends_at AS "endsAt" FROM attachment WHERE ${isIt}`,
    [account, session, id]
  )
  return row && (row.endsAt === null || row.endsAt > now) ? row : undefined
}

// Its uploader may continue it until its account is locked, so what is swept is read again then.
async function sweepEnded(tx: Tx, now: number): Promise<boolean> {
  const seen = await tx.get<Row>(`${ended} LIMIT 1`, [now])
  if (!seen) return false
  await tx.run('SELECT FROM account WHERE key = $1 FOR NO KEY UPDATE', [seen.account])
  const row = await tx.get<Row>(`${ended} AND key = $2`, [now, seen.key])
  if (!row) return true
  forgetPieces(tx, row)
  tx.send('DELETE FROM attachment WHERE key = $1', [row.key])
  return true
}

function forgetPieces(tx: Tx, { account, key, received }: Row): void {
  tx.send('DELETE FROM attachment_piece WHERE account = $1 AND attachment = $2', [account, key])
  count(tx, account, -received)
}

function count(tx: Tx, account: number, bytes: number): void {
  tx.send('UPDATE account SET attachment_bytes = attachment_bytes + $1 WHERE key = $2', [bytes, account])
}
