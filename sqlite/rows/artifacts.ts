import type { Database } from 'better-sqlite3'
import type { AccountId, ArtifactId, Sealed } from '../../lib/protocol/wire/ids.ts'
import type { ArtifactHead, ArtifactPart, ArtifactRow, ArtifactStore, ArtifactWritten, SealedCell } from '../../lib/store/artifacts.ts'
import { checksumOf } from '../../lib/store/checksum.ts'
import { within } from '../../lib/store/list-size.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import { accountClock } from '../engine/clock.ts'
import type { Deps } from '../engine/deps.ts'
import { byteQuota, rowQuota } from '../engine/quotas.ts'

type Draft = Parameters<ArtifactStore['openArtifact']>[1]
type Parts = Parameters<ArtifactStore['writeArtifact']>[2]

interface FlatHead {
  id: ArtifactId
  seq: number
  createdAt: number
  updatedAt: number
  dataKey: Sealed
  headerVersion: number
  header: Sealed
}
interface FlatArtifact extends FlatHead {
  bodyVersion: number
  body: Sealed
}
/** The position of a row. */
interface Place {
  owner: number
  key: number
}

const accountKey = '(SELECT key FROM account WHERE id = ?)'
const headColumns =
  'id, seq, created_at AS createdAt, updated_at AS updatedAt, data_key AS dataKey, header_version AS headerVersion, header'

/** Documents of an account: a header that lists show and a body, each sealed and versioned. */
export function artifacts({ database, queue }: Deps): ArtifactStore {
  const find = database.prepare<[AccountId, ArtifactId], FlatArtifact>(
    `SELECT ${headColumns}, body_version AS bodyVersion, body FROM artifact WHERE account = ${accountKey} AND id = ?`
  )
  const list = database.prepare<[AccountId, number], FlatHead>(
    `SELECT ${headColumns} FROM artifact WHERE account = ${accountKey} ORDER BY updated_at DESC, key DESC LIMIT ?`
  )
  const findPlace = database.prepare<[AccountId, ArtifactId], Place>(
    `SELECT account AS owner, key FROM artifact WHERE account = ${accountKey} AND id = ?`
  )
  const nextPlace = database.prepare<[AccountId], Place>(
    'SELECT key AS owner, (SELECT coalesce(max(key), 0) + 1 FROM artifact) AS key FROM account WHERE id = ?'
  )
  const create = database.prepare<[number, AccountId, ArtifactId, Sealed, number, Sealed, Sealed, number, number, number, number]>(
    `INSERT INTO artifact (key, account, id, data_key, bytes, header, header_version, body, body_version, created_at, updated_at, clock, crc)
     VALUES (?, ${accountKey}, ?, ?, ?, ?, 1, ?, 1, ?, ?, ?, ?)`
  )
  // One statement for all of it, because each would write the whole row.
  const update = database.prepare<[number, Sealed, number, Sealed, number, number, number, number, AccountId, ArtifactId]>(
    `UPDATE artifact SET header_version = ?, header = ?, body_version = ?, body = ?, seq = seq + 1, updated_at = ?, clock = ?, bytes = bytes + ?, crc = ?
     WHERE account = ${accountKey} AND id = ?`
  )
  const count = database.prepare<[number, AccountId]>('UPDATE account SET artifact_bytes = artifact_bytes + ? WHERE id = ?')
  const clock = accountClock(database)
  const hasRows = rowQuota(database, 'artifact')
  const mayKeep = byteQuota(database)

  function open(account: AccountId, { id, header, body, dataKey, now }: Draft, quotas: Quotas) {
    const stored = find.get(account, id)
    if (stored) return { artifact: inflate(stored), created: false, clock: clock.read(account) }

    const bytes = header.length + body.length
    if (hasRows(account, quotas.artifacts)) throw new OverQuota('artifacts')
    mayKeep(account, bytes, quotas)
    const moved = clock.move(account, 1)
    count.run(bytes, account)
    const place = known(nextPlace.get(account))
    create.run(place.key, account, id, dataKey, bytes, header, body, now, now, moved, crcOf(place, { dataKey, header, body }))
    const cells = { header: { version: 1, value: header }, body: { version: 1, value: body } }
    return { artifact: { id, ...cells, dataKey, seq: 0, createdAt: now, updatedAt: now }, created: true, clock: moved }
  }

  function write(account: AccountId, id: ArtifactId, { header, body }: Parts, now: number, quotas: Quotas): ArtifactWritten | 'missing' {
    const row = find.get(account, id)
    if (!row) return 'missing'
    const current = inflate(row)
    const staleHeader = isStale(header, current.header)
    const staleBody = isStale(body, current.body)
    if (staleHeader || staleBody) {
      return { written: false, ...(staleHeader && { header: current.header }), ...(staleBody && { body: current.body }) }
    }
    const added = growth(header, current.header) + growth(body, current.body)
    mayKeep(account, added, quotas)
    count.run(added, account)
    const moved = clock.move(account, 1)
    const [newHeader, newBody] = [header ? next(header) : current.header, body ? next(body) : current.body]
    const crc = crcOf(known(findPlace.get(account, id)), { ...row, header: newHeader.value, body: newBody.value })
    update.run(newHeader.version, newHeader.value, newBody.version, newBody.value, now, moved, added, crc, account, id)
    return { written: true, ...(header && { header: newHeader }), ...(body && { body: newBody }), clock: moved }
  }

  return {
    openArtifact: (account, draft, quotas = noQuotas) =>
      queue.write(() => open(account, draft, quotas), { bytes: draft.header.length + draft.body.length }),
    listArtifacts: (account, limit) => queue.read(() => within(list.iterate(account, limit)).map(inflateHead)),
    findArtifact: (account, artifact) =>
      queue.read(() => {
        const row = find.get(account, artifact)
        return row ? inflate(row) : 'missing'
      }),
    writeArtifact: (account, artifact, parts, now, quotas = noQuotas) =>
      queue.write(() => write(account, artifact, parts, now, quotas), {
        bytes: (parts.header?.value.length ?? 0) + (parts.body?.value.length ?? 0)
      })
  }
}

export function findArtifactHead(database: Database): (account: AccountId, artifact: ArtifactId) => ArtifactHead | undefined {
  const find = database.prepare<[AccountId, ArtifactId], FlatHead>(
    `SELECT ${headColumns} FROM artifact WHERE account = ${accountKey} AND id = ?`
  )
  return (account, artifact) => {
    const row = find.get(account, artifact)
    return row && inflateHead(row)
  }
}

function isStale(part: ArtifactPart | undefined, current: SealedCell): boolean {
  return part !== undefined && part.expected !== current.version
}

function growth(part: ArtifactPart | undefined, current: SealedCell): number {
  return part ? part.value.length - current.value.length : 0
}

function next({ expected, value }: ArtifactPart): SealedCell {
  return { version: expected + 1, value }
}

function crcOf({ owner, key }: Place, { dataKey, header, body }: Pick<FlatArtifact, 'dataKey' | 'header' | 'body'>): number {
  return checksumOf(owner, key, dataKey, header, body)
}

function known(place: Place | undefined): Place {
  if (!place) throw new Error('The account or its artifact does not exist')
  return place
}

function inflateHead({ header, headerVersion, ...row }: FlatHead): ArtifactHead {
  return { ...row, header: { version: headerVersion, value: header } }
}

function inflate({ body, bodyVersion, ...head }: FlatArtifact): ArtifactRow {
  return { ...inflateHead(head), body: { version: bodyVersion, value: body } }
}
