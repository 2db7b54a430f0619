import * as z from 'zod'
import { route } from './route.ts'

/** Artifacts. */
export const artifactRoutes = {
  listArtifacts: route({
    method: 'GET',
    path: '/v1/artifacts',
    auth: 'account',
    limit: 0,
    about: 'Artifacts; this server keeps none yet.',
    reply: z.array(z.never())
  })
} as const
