import * as z from 'zod'
import { machineId, sealed, sessionId, version } from '../ids.ts'
import { accessKeyRecord } from '../records.ts'
import { kib, route } from './route.ts'

const path = '/v1/access-keys/:sessionId/:machineId'
const params = z.object({ sessionId, machineId })

/** Sealed keys, one for a session on a machine. */
export const accessKeyRoutes = {
  readAccessKey: route({
    method: 'GET',
    path,
    auth: 'read',
    limit: 0,
    params,
    reply: z.object({ accessKey: accessKeyRecord.nullable() })
  }),
  addAccessKey: route({
    method: 'POST',
    path,
    auth: 'write',
    limit: 40 * kib * kib,
    params,
    body: z.object({ data: sealed }),
    reply: z.object({ success: z.literal(true), accessKey: accessKeyRecord })
  }),
  writeAccessKey: route({
    method: 'PUT',
    path,
    auth: 'write',
    limit: 40 * kib * kib,
    params,
    body: z.object({ data: sealed, expectedVersion: version }),
    reply: z.union([
      z.object({ success: z.literal(true), version }),
      z.object({ success: z.literal(false), error: z.literal('version-mismatch'), currentVersion: version, currentData: sealed })
    ])
  })
} as const
