import * as v from '../../../schema.ts'
import { machineId, sealed, sessionId, version } from '../ids.ts'
import { accessKeyRecord } from '../records.ts'
import { kib, route } from './route.ts'

const path = '/v1/access-keys/:sessionId/:machineId'
const params = v.object({ sessionId, machineId })

/** Sealed keys, one per session and machine. */
export const accessKeyRoutes = {
  readAccessKey: route({
    method: 'GET',
    path,
    auth: 'read',
    limit: 0,
    params,
    reply: v.object({ accessKey: v.nullable(accessKeyRecord) })
  }),
  addAccessKey: route({
    method: 'POST',
    path,
    auth: 'write',
    limit: 40 * kib * kib,
    params,
    body: v.object({ data: sealed }),
    reply: v.object({ success: v.literal(true), accessKey: accessKeyRecord })
  }),
  writeAccessKey: route({
    method: 'PUT',
    path,
    auth: 'write',
    limit: 40 * kib * kib,
    params,
    body: v.object({ data: sealed, expectedVersion: version }),
    reply: v.union([
      v.object({ success: v.literal(true), version }),
      v.object({ success: v.literal(false), error: v.literal('version-mismatch'), currentVersion: version, currentData: sealed })
    ])
  })
} as const
