import * as z from 'zod'
import { route } from './route.ts'

/** What existing apps ask for and this server does not have, in shapes they accept. */
export const unofferedRoutes = {
  listFriends: route({
    method: 'GET',
    path: '/v1/friends',
    auth: 'account',
    limit: 0,
    about: 'Always empty: accounts of this server do not see each other.',
    reply: z.object({ friends: z.array(z.never()) })
  }),
  readFeed: route({
    method: 'GET',
    path: '/v1/feed',
    auth: 'account',
    limit: 0,
    about: 'Always empty, as there is nobody to hear from.',
    reply: z.object({ items: z.array(z.never()), hasMore: z.literal(false) })
  })
} as const
