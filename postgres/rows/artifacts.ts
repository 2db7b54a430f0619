import type { AccountId, ArtifactId } from '../../lib/protocol/wire/ids.ts'
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
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import { moveClock, readClock } from '../engine/clock.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { firstRows } from '../engine/list-size.ts'
import { hasRows, mayKeep } from '../engine/quotas.ts'

const inAccount = 'account = (SELECT key FROM account WHERE id = $1)'
const headNames = 'id, seq, "createdAt", "updatedAt", "dataKey", "headerVersion", header'
const headColumns = `id, seq, created_at AS "createdAt", updated_at AS "updatedAt", data_key AS "dataKey", header_version AS "headerVersion",
  header`
const find = `SELECT ${headColumns}, body_version AS "bodyVersion", body FROM artifact WHERE ${inAccount} AND id = $2`
const list = firstRows(`SELECT ${headColumns}, key FROM artifact WHERE ${inAccount} ORDER BY updated_at DESC, key DESC LIMIT $2`, {
  columns: headNames,
  texts: ['"dataKey"', 'header'],
  order: '"updatedAt" DESC, key DESC'
})

/** Documents of an account: a header that lists show and a body, each sealed and versioned. */
export function artifacts({ write, read }: Deps): ArtifactStore {
  return {
    openArtifact: (account, draft, quotas = noQuotas) =>
      write(account, tx => open(tx, account, draft, quotas), { bytes: draft.header.length + draft.body.length }),
    listArtifacts: (account, limit) =>
      read(async queries => (await queries.all<FlatArtifactHead>(list, [account, limit])).map(inflateArtifactHead)),
    findArtifact: (account, artifact) =>
      read(async queries => {
        const row = await queries.get<FlatArtifact>(find, [account, artifact])
        return row ? inflateArtifact(row) : 'missing'
      }),
    writeArtifact: (account, artifact, parts, now, quotas = noQuotas) =>
      write(account, tx => change(tx, account, artifact, parts, now, quotas), {
        bytes: (parts.header?.value.length ?? 0) + (parts.body?.value.length ?? 0)
      })
  }
}

async function open(tx: Tx, account: AccountId, draft: ArtifactDraft, quotas: Quotas) {
  const { id, header, body, dataKey, now } = draft
  const stored = await tx.get<FlatArtifact>(find, [account, id])
  if (stored) return { artifact: inflateArtifact(stored), created: false, clock: await readClock(tx, account) }

  const bytes = header.length + body.length
  if (await hasRows(tx, 'artifact', account, quotas.artifacts)) throw new OverQuota('artifacts')
  await mayKeep(tx, account, bytes, quotas)
  const clock = await moveClock(tx, account, 1)
  count(tx, account, bytes)
  await tx.run(
    `INSERT INTO artifact (account, id, data_key, bytes, header, header_version, body, body_version, created_at, updated_at, clock)
     SELECT key, $2, $3, $4, $5, 1, $6, 1, $7, $7, $8 FROM account WHERE id = $1`,
    [account, id, dataKey, bytes, header, body, now, clock]
  )
  return { artifact: openedArtifact(draft), created: true, clock }
}

async function change(
  tx: Tx,
  account: AccountId,
  id: ArtifactId,
  parts: ArtifactParts,
  now: number,
  quotas: Quotas
): Promise<ArtifactWritten | 'missing'> {
  const row = await tx.get<FlatArtifact>(find, [account, id])
  if (!row) return 'missing'
  const current = inflateArtifact(row)
  const conflict = artifactConflict(current, parts)
  if (conflict) return conflict
  const { header, body } = parts
  const added = artifactGrowth(current, parts)
  await mayKeep(tx, account, added, quotas)
  count(tx, account, added)
  const clock = await moveClock(tx, account, 1)
  const [newHeader, newBody] = [header && nextCell(header), body && nextCell(body)]
  // A body that stays is not written again.
  await tx.run(
    `UPDATE artifact SET header_version = coalesce($3, header_version), header = coalesce($4, header),
       body_version = coalesce($5, body_version), body = coalesce($6, body), seq = seq + 1, updated_at = $7, clock = $8, bytes = bytes + $9
     WHERE ${inAccount} AND id = $2`,
    [account, id, newHeader?.version, newHeader?.value, newBody?.version, newBody?.value, now, clock, added]
  )
  return { written: true, ...(newHeader && { header: newHeader }), ...(newBody && { body: newBody }), clock }
}

function count(tx: Tx, account: AccountId, bytes: number): void {
  tx.send('UPDATE account SET artifact_bytes = artifact_bytes + $1 WHERE id = $2', [bytes, account])
}

export async function findArtifactHeads(queries: Queries, account: AccountId, artifacts: readonly ArtifactId[]): Promise<ArtifactHead[]> {
  if (artifacts.length === 0) return []
  const rows = await queries.all<FlatArtifactHead>(`SELECT ${headColumns} FROM artifact WHERE ${inAccount} AND id = ANY($2)`, [
    account,
    artifacts
  ])
  return rows.map(inflateArtifactHead)
}
