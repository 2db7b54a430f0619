import { failure } from '../../protocol/wire/failures.ts'
import type { ArtifactId } from '../../protocol/wire/ids.ts'
import type { BodyOf } from '../../protocol/wire/routes.ts'
import type { ArtifactHead, ArtifactPart, ArtifactRow, SealedCell } from '../../store/artifacts.ts'
import type { Caller, Deps } from '../deps.ts'
import { announce } from '../publish.ts'

const mostListed = 200

/** The parts that were written, or those with a version other than expected, with their current value. */
interface ArtifactOutcome {
  written: boolean
  header?: SealedCell
  body?: SealedCell
}

/** Creates an artifact, or returns the one this account has under the id, unchanged. */
export async function openArtifact(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'quotas'>,
  caller: Caller,
  { id, header, body, dataEncryptionKey }: BodyOf<'openArtifact'>
): Promise<ArtifactRow> {
  const draft = { id, header, body, dataKey: dataEncryptionKey, now: deps.now() }
  const { artifact, created, clock } = await deps.store.openArtifact(caller.account, draft, deps.quotas(caller.account))
  if (created) announce(deps, caller, clock, { type: 'artifact-opened', artifact })
  return artifact
}

export async function listArtifacts({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<ArtifactHead[]> {
  return store.listArtifacts(caller.account, mostListed)
}

export async function readArtifact({ store }: Pick<Deps, 'store'>, caller: Caller, id: ArtifactId): Promise<ArtifactRow> {
  const artifact = await store.findArtifact(caller.account, id)
  if (artifact === 'missing') throw failure('artifact-not-found')
  return artifact
}

/** Writes both parts or neither. Without parts there is nothing to write, which succeeds. */
export async function writeArtifact(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'quotas'>,
  caller: Caller,
  id: ArtifactId,
  parts: { header?: ArtifactPart; body?: ArtifactPart }
): Promise<ArtifactOutcome> {
  if (!parts.header && !parts.body) {
    await readArtifact(deps, caller, id)
    return { written: true }
  }
  const outcome = await deps.store.writeArtifact(caller.account, id, parts, deps.now(), deps.quotas(caller.account))
  if (outcome === 'missing') throw failure('artifact-not-found')
  if (!outcome.written) return outcome

  const { written, clock, ...cells } = outcome
  announce(deps, caller, clock, { type: 'artifact-written', id, ...cells })
  return { written, ...cells }
}

export async function removeArtifact(deps: Pick<Deps, 'store' | 'bus' | 'now'>, caller: Caller, id: ArtifactId): Promise<void> {
  const removed = await deps.store.remove(caller.account, { of: 'artifact', id })
  if (removed === 'missing') throw failure('artifact-not-found')
  announce(deps, caller, removed.clock, { type: 'row-removed', row: { of: 'artifact', id } })
}
