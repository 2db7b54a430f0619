import type { AccountId, ArtifactId, Sealed } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'

export interface SealedCell {
  version: number
  value: Sealed
}

export interface ArtifactHead {
  id: ArtifactId
  header: SealedCell
  dataKey: Sealed
  /** How often it was written since its creation. */
  seq: number
  createdAt: number
  updatedAt: number
}

export interface ArtifactRow extends ArtifactHead {
  body: SealedCell
}

export interface ArtifactPart {
  expected: number
  value: Sealed
}

export interface ArtifactDraft {
  id: ArtifactId
  header: Sealed
  body: Sealed
  dataKey: Sealed
  now: number
}
export interface ArtifactParts {
  header?: ArtifactPart
  body?: ArtifactPart
}

/** The parts that were written, or those with a version other than expected, with their current value. */
export type ArtifactWritten =
  | { written: true; header?: SealedCell; body?: SealedCell; clock: number }
  | { written: false; header?: SealedCell; body?: SealedCell }

export interface ArtifactStore {
  /** Found or created under its own id, both versions starting at 1; a repeat returns it unchanged. */
  openArtifact(
    account: AccountId,
    draft: ArtifactDraft,
    quotas?: Quotas
  ): Promise<{ artifact: ArtifactRow; created: boolean; clock: number }>
  /** The most recently changed first. */
  listArtifacts(account: AccountId, limit: number): Promise<ArtifactHead[]>
  findArtifact(account: AccountId, artifact: ArtifactId): Promise<ArtifactRow | 'missing'>
  /** Writes both parts or neither, each only with its expected version. */
  writeArtifact(
    account: AccountId,
    artifact: ArtifactId,
    parts: ArtifactParts,
    now: number,
    quotas?: Quotas
  ): Promise<ArtifactWritten | 'missing'>
}

/** An artifact as a database returns it. */
export interface FlatArtifactHead extends Omit<ArtifactHead, 'header'> {
  headerVersion: number
  header: Sealed
}
export interface FlatArtifact extends FlatArtifactHead {
  bodyVersion: number
  body: Sealed
}

export function inflateArtifactHead({ header, headerVersion, ...row }: FlatArtifactHead): ArtifactHead {
  return { ...row, header: { version: headerVersion, value: header } }
}

export function inflateArtifact({ body, bodyVersion, ...head }: FlatArtifact): ArtifactRow {
  return { ...inflateArtifactHead(head), body: { version: bodyVersion, value: body } }
}

/** What a draft is once it is stored. */
export function openedArtifact({ id, header, body, dataKey, now }: ArtifactDraft): ArtifactRow {
  return { id, header: { version: 1, value: header }, body: { version: 1, value: body }, dataKey, seq: 0, createdAt: now, updatedAt: now }
}

/** The answer to a write of which a part expects another version; undefined if it may be written. */
export function artifactConflict(current: ArtifactRow, { header, body }: ArtifactParts): ArtifactWritten | undefined {
  const isHeaderStale = header !== undefined && header.expected !== current.header.version
  const isBodyStale = body !== undefined && body.expected !== current.body.version
  if (!isHeaderStale && !isBodyStale) return undefined
  return { written: false, ...(isHeaderStale && { header: current.header }), ...(isBodyStale && { body: current.body }) }
}

export function artifactGrowth(current: ArtifactRow, { header, body }: ArtifactParts): number {
  const growth = (part: ArtifactPart | undefined, { value }: SealedCell) => (part ? part.value.length - value.length : 0)
  return growth(header, current.header) + growth(body, current.body)
}

export function nextCell({ expected, value }: ArtifactPart): SealedCell {
  return { version: expected + 1, value }
}
