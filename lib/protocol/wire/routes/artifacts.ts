import * as z from 'zod'
import { artifactId, sealed, version } from '../ids.ts'
import { artifactHead, artifactRecord } from '../records.ts'
import { kib, ok, route } from './route.ts'

const artifactParams = z.object({ id: artifactId })
const newArtifactId = z.guid().pipe(artifactId)

/** What makes an artifact, by HTTP and by socket. The client chooses the id, a UUID. */
export const artifactDraft = z.object({ id: newArtifactId, header: sealed, body: sealed, dataEncryptionKey: sealed })

/** Documents of an account: a header that lists show and a body, each sealed and versioned. */
export const artifactRoutes = {
  listArtifacts: route({
    method: 'GET',
    path: '/v1/artifacts',
    auth: 'read',
    limit: 0,
    reply: z.array(artifactHead)
  }),
  readArtifact: route({
    method: 'GET',
    path: '/v1/artifacts/:id',
    auth: 'read',
    limit: 0,
    params: artifactParams,
    reply: artifactRecord
  }),
  openArtifact: route({
    method: 'POST',
    path: '/v1/artifacts',
    auth: 'write',
    limit: 80 * kib * kib,
    body: artifactDraft,
    reply: artifactRecord
  }),
  writeArtifact: route({
    method: 'POST',
    path: '/v1/artifacts/:id',
    auth: 'write',
    limit: 80 * kib * kib,
    params: artifactParams,
    body: z.object({
      header: sealed.optional(),
      expectedHeaderVersion: version.optional(),
      body: sealed.optional(),
      expectedBodyVersion: version.optional()
    }),
    reply: z.union([
      z.object({ success: z.literal(true), headerVersion: version.optional(), bodyVersion: version.optional() }),
      z.object({
        success: z.literal(false),
        error: z.literal('version-mismatch'),
        currentHeaderVersion: version.optional(),
        currentHeader: sealed.optional(),
        currentBodyVersion: version.optional(),
        currentBody: sealed.optional()
      })
    ])
  }),
  removeArtifact: route({
    method: 'DELETE',
    path: '/v1/artifacts/:id',
    auth: 'write',
    limit: 0,
    params: artifactParams,
    reply: ok
  })
} as const
