import type { Database } from 'better-sqlite3'
import type { AccountId, ArtifactId, Sealed } from '../../lib/protocol/wire/ids.ts'
import {
  type ArtifactDraft,
  type ArtifactHead,
  type ArtifactParts,
  type ArtifactStore,
  type ArtifactWritten,
  artifactConflict,
  artifactGrowth,
  type FlatArtifact,
  type FlatArtifactHead,
  inflateArtifact,
  inflateArtifactHead,
  nextCell,
  openedArtifact
} from '../../lib/store/artifacts.ts'
import { checksumOf } from '../../lib/store/checksum.ts'
import { within } from '../../lib/store/list-size.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import { accountClock } from '../engine/clock.ts'
import type { Deps } from '../engine/deps.ts'
import { byteQuota, rowQuota } from '../engine/quotas.ts'

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
  const list = database.prepare<[AccountId, number], FlatArtifactHead>(
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

  function open(account: AccountId, draft: ArtifactDraft, quotas: Quotas) {
    const { id, header, body, dataKey, now } = draft
    const stored = find.get(account, id)
    if (stored) return { artifact: inflateArtifact(stored), created: false, clock: clock.read(account) }

    const bytes = header.length + body.length
    if (hasRows(account, quotas.artifacts)) throw new OverQuota('artifacts')
    mayKeep(account, bytes, quotas)
    const moved = clock.move(account, 1)
    count.run(bytes, account)
    const place = known(nextPlace.get(account))
    create.run(place.key, account, id, dataKey, bytes, header, body, now, now, moved, crcOf(place, { dataKey, header, body }))
    return { artifact: openedArtifact(draft), created: true, clock: moved }
  }

  function write(account: AccountId, id: ArtifactId, parts: ArtifactParts, now: number, quotas: Quotas): ArtifactWritten | 'missing' {
    const row = find.get(account, id)
    if (!row) return 'missing'
    const current = inflateArtifact(row)
    const conflict = artifactConflict(current, parts)
    if (conflict) return conflict
    const { header, body } = parts
    const added = artifactGrowth(current, parts)
    mayKeep(account, added, quotas)
    count.run(added, account)
    const moved = clock.move(account, 1)
    const [newHeader, newBody] = [header ? nextCell(header) : current.header, body ? nextCell(body) : current.body]
    const crc = crcOf(known(findPlace.get(account, id)), { ...row, header: newHeader.value, body: newBody.value })
    update.run(newHeader.version, newHeader.value, newBody.version, newBody.value, now, moved, added, crc, account, id)
    return { written: true, ...(header && { header: newHeader }), ...(body && { body: newBody }), clock: moved }
  }

  return {
    openArtifact: (account, draft, quotas = noQuotas) =>
      queue.write(() => open(account, draft, quotas), { bytes: draft.header.length + draft.body.length }),
    listArtifacts: (account, limit) => queue.read(() => within(list.iterate(account, limit)).map(inflateArtifactHead)),
    findArtifact: (account, artifact) =>
      queue.read(() => {
        const row = find.get(account, artifact)
        return row ? inflateArtifact(row) : 'missing'
      }),
    writeArtifact: (account, artifact, parts, now, quotas = noQuotas) =>
      queue.write(() => write(account, artifact, parts, now, quotas), {
        bytes: (parts.header?.value.length ?? 0) + (parts.body?.value.length ?? 0)
      })
  }
}

export function findArtifactHead(database: Database): (account: AccountId, artifact: ArtifactId) => ArtifactHead | undefined {
  const find = database.prepare<[AccountId, ArtifactId], FlatArtifactHead>(
    `SELECT ${headColumns} FROM artifact WHERE account = ${accountKey} AND id = ?`
  )
  return (account, artifact) => {
    const row = find.get(account, artifact)
    return row && inflateArtifactHead(row)
  }
}

function crcOf({ owner, key }: Place, { dataKey, header, body }: Pick<FlatArtifact, 'dataKey' | 'header' | 'body'>): number {
  return checksumOf(owner, key, dataKey, header, body)
}

function known(place: Place | undefined): Place {
  if (!place) throw new Error('The account or its artifact does not exist')
  return place
}
