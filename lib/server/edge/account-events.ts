import type { AckOf } from '../../protocol/wire/events.ts'
import type { SealedCell } from '../../store/artifacts.ts'
import { readAccessKey } from '../actions/access-keys.ts'
import { openArtifact, readArtifact, removeArtifact, writeArtifact } from '../actions/artifacts.ts'
import type { Deps } from '../actions/deps.ts'
import { reportUsage } from '../actions/usage.ts'
import { artifactRecordOf } from '../records.ts'
import type { Handlers } from './events.ts'

type AccountEvent = 'usage-report' | 'artifact-read' | 'artifact-create' | 'artifact-update' | 'artifact-delete' | 'access-key-get'

/** Events on what an account keeps besides sessions and machines. */
export function accountEventHandlers(deps: Pick<Deps, 'store' | 'bus' | 'now' | 'newId' | 'quotas'>): Pick<Handlers, AccountEvent> {
  return {
    async 'usage-report'(from, report) {
      const { id: reportId, createdAt, updatedAt } = await reportUsage(deps, from.sender, report)
      return { success: true, reportId, createdAt, updatedAt }
    },
    async 'artifact-read'(from, { artifactId }) {
      return { result: 'success', artifact: artifactRecordOf(await readArtifact(deps, from.sender, artifactId)) }
    },
    async 'artifact-create'(from, draft) {
      return { result: 'success', artifact: artifactRecordOf(await openArtifact(deps, from.writer, draft)) }
    },
    async 'artifact-update'(from, { artifactId, header, body }) {
      const outcome = await writeArtifact(deps, from.writer, artifactId, {
        ...(header && { header: { expected: header.expectedVersion, value: header.data } }),
        ...(body && { body: { expected: body.expectedVersion, value: body.data } })
      })
      return {
        result: outcome.written ? 'success' : 'version-mismatch',
        ...(outcome.header && { header: namedData(outcome.header) }),
        ...(outcome.body && { body: namedData(outcome.body) })
      } satisfies AckOf<'artifact-update'>
    },
    async 'artifact-delete'(from, { artifactId }) {
      await removeArtifact(deps, from.writer, artifactId)
      return { result: 'success' }
    },
    async 'access-key-get'(from, { sessionId: session, machineId: machine }) {
      return { ok: true, accessKey: await readAccessKey(deps, from.sender, { session, machine }) }
    }
  }
}

function namedData({ version, value }: SealedCell) {
  return { version, data: value }
}
