import * as v from '../../../schema.ts'
import { artifactId, sealed, version } from '../ids.ts'
import { artifactHead, artifactRecord } from '../records.ts'
import { kib, ok, route } from './route.ts'

const artifactParams = v.object({ id: artifactId })
const newArtifactId = v.pipe(v.string(), v.uuid(), artifactId)

/** The input for a new artifact, over HTTP and sockets. The client chooses the id, a UUID. */
export const artifactDraft = v.object({ id: newArtifactId, header: sealed, body: sealed, dataEncryptionKey: sealed })

/** Documents of an account: a header that lists show and a body, each sealed and versioned. */
export const artifactRoutes = {
  listArtifacts: route({
    method: 'GET',
    path: '/v1/artifacts',
    auth: 'read',
    limit: 0,
    reply: v.array(artifactHead)
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
    body: v.object({
      header: v.optional(sealed),
      expectedHeaderVersion: v.optional(version),
      body: v.optional(sealed),
      expectedBodyVersion: v.optional(version)
    }),
    reply: v.union([
      v.object({ success: v.literal(true), headerVersion: v.optional(version), bodyVersion: v.optional(version) }),
      v.object({
        success: v.literal(false),
        error: v.literal('version-mismatch'),
        currentHeaderVersion: v.optional(version),
        currentHeader: v.optional(sealed),
        currentBodyVersion: v.optional(version),
        currentBody: v.optional(sealed)
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
