import type { AccountId, ArtifactId, Sealed } from '../../lib/protocol/wire/ids.ts'
import type { ArtifactHead, ArtifactPart, ArtifactRow, ArtifactStore, ArtifactWritten, SealedCell } from '../../lib/store/artifacts.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import { moveClock, readClock } from '../engine/clock.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { firstRows } from '../engine/list-size.ts'
import { hasRows, mayKeep } from '../engine/quotas.ts'

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
    listArtifacts: (account, limit) => read(async queries => (await queries.all<FlatHead>(list, [account, limit])).map(inflateHead)),
    findArtifact: (account, artifact) =>
      read(async queries => {
        const row = await queries.get<FlatArtifact>(find, [account, artifact])
        return row ? inflate(row) : 'missing'
      }),
    writeArtifact: (account, artifact, parts, now, quotas = noQuotas) =>
      write(account, tx => change(tx, account, artifact, parts, now, quotas), {
        bytes: (parts.header?.value.length ?? 0) + (parts.body?.value.length ?? 0)
      })
  }
}

async function open(tx: Tx, account: AccountId, { id, header, body, dataKey, now }: Draft, quotas: Quotas) {
  const stored = await tx.get<FlatArtifact>(find, [account, id])
  if (stored) return { artifact: inflate(stored), created: false, clock: await readClock(tx, account) }

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
  const cells = { header: { version: 1, value: header }, body: { version: 1, value: body } }
  return { artifact: { id, ...cells, dataKey, seq: 0, createdAt: now, updatedAt: now }, created: true, clock }
}

async function change(
  tx: Tx,
  account: AccountId,
  id: ArtifactId,
  { header, body }: Parts,
  now: number,
  quotas: Quotas
): Promise<ArtifactWritten | 'missing'> {
  const row = await tx.get<FlatArtifact>(find, [account, id])
  if (!row) return 'missing'
  const current = inflate(row)
  const staleHeader = isStale(header, current.header)
  const staleBody = isStale(body, current.body)
  if (staleHeader || staleBody) {
    return { written: false, ...(staleHeader && { header: current.header }), ...(staleBody && { body: current.body }) }
  }
  const added = growth(header, current.header) + growth(body, current.body)
  await mayKeep(tx, account, added, quotas)
  count(tx, account, added)
  const clock = await moveClock(tx, account, 1)
  const [newHeader, newBody] = [header && next(header), body && next(body)]
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
  const rows = await queries.all<FlatHead>(`SELECT ${headColumns} FROM artifact WHERE ${inAccount} AND id = ANY($2)`, [account, artifacts])
  return rows.map(inflateHead)
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

function inflateHead({ header, headerVersion, ...row }: FlatHead): ArtifactHead {
  return { ...row, header: { version: headerVersion, value: header } }
}

function inflate({ body, bodyVersion, ...head }: FlatArtifact): ArtifactRow {
  return { ...inflateHead(head), body: { version: bodyVersion, value: body } }
}
