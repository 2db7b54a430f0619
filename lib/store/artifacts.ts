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

/** The parts that were written, or those with a version other than expected, with their current value. */
export type ArtifactWritten =
  | { written: true; header?: SealedCell; body?: SealedCell; clock: number }
  | { written: false; header?: SealedCell; body?: SealedCell }

export interface ArtifactStore {
  /** Found or created under its own id, both versions starting at 1; a repeat returns it unchanged. */
  openArtifact(
    account: AccountId,
    draft: { id: ArtifactId; header: Sealed; body: Sealed; dataKey: Sealed; now: number },
    quotas?: Quotas
  ): Promise<{ artifact: ArtifactRow; created: boolean; clock: number }>
  /** The most recently changed first. */
  listArtifacts(account: AccountId, limit: number): Promise<ArtifactHead[]>
  findArtifact(account: AccountId, artifact: ArtifactId): Promise<ArtifactRow | 'missing'>
  /** Writes both parts or neither, each only with its expected version. */
  writeArtifact(
    account: AccountId,
    artifact: ArtifactId,
    parts: { header?: ArtifactPart; body?: ArtifactPart },
    now: number,
    quotas?: Quotas
  ): Promise<ArtifactWritten | 'missing'>
}
