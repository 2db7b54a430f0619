import * as z from 'zod'
import { accountId } from '../ids.ts'
import { kib, ok, route } from './route.ts'

const vendorParams = z.object({ vendor: z.enum(['openai', 'anthropic', 'gemini']) })
const uid = z.object({ uid: z.string().max(200) })
const refused = z.never()

/**
 * What existing clients ask for and this server does not have: other people, GitHub, voice, tokens of vendors. Answered as
 * empty or not configured, in shapes they accept; a route that was missing would be asked again for ever.
 */
export const unofferedRoutes = {
  listFriends: route({
    method: 'GET',
    path: '/v1/friends',
    auth: 'any',
    limit: 0,
    reply: z.object({ friends: z.array(z.never()) })
  }),
  addFriend: route({
    method: 'POST',
    path: '/v1/friends/add',
    auth: 'any',
    limit: 4 * kib,
    body: uid,
    reply: z.object({ user: z.null() })
  }),
  removeFriend: route({
    method: 'POST',
    path: '/v1/friends/remove',
    auth: 'any',
    limit: 4 * kib,
    body: uid,
    reply: z.object({ user: z.null() })
  }),
  readFeed: route({
    method: 'GET',
    path: '/v1/feed',
    auth: 'any',
    limit: 0,
    reply: z.object({ items: z.array(z.never()), hasMore: z.literal(false) })
  }),
  searchUsers: route({
    method: 'GET',
    path: '/v1/user/search',
    auth: 'any',
    limit: 0,
    reply: z.object({ users: z.array(z.never()) })
  }),
  readUser: route({
    method: 'GET',
    path: '/v1/user/:id',
    auth: 'any',
    limit: 0,
    params: z.object({ id: accountId }),
    reply: refused
  }),
  checkVersion: route({
    method: 'POST',
    path: '/v1/version',
    auth: 'none',
    limit: 4 * kib,
    body: z.unknown(),
    reply: z.object({ updateUrl: z.null() })
  }),
  startGithub: route({
    method: 'GET',
    path: '/v1/connect/github/params',
    auth: 'any',
    limit: 0,
    reply: refused
  }),
  finishGithub: route({
    method: 'GET',
    path: '/v1/connect/github/callback',
    auth: 'none',
    limit: 0,
    reply: refused
  }),
  hearGithub: route({
    method: 'POST',
    path: '/v1/connect/github/webhook',
    auth: 'none',
    limit: 64 * kib,
    body: z.unknown(),
    reply: refused
  }),
  disconnectGithub: route({
    method: 'DELETE',
    path: '/v1/connect/github',
    auth: 'any',
    limit: 0,
    reply: ok
  }),
  registerVendorToken: route({
    method: 'POST',
    path: '/v1/connect/:vendor/register',
    auth: 'any',
    limit: 64 * kib,
    params: vendorParams,
    body: z.unknown(),
    reply: refused
  }),
  readVendorToken: route({
    method: 'GET',
    path: '/v1/connect/:vendor/token',
    auth: 'any',
    limit: 0,
    params: vendorParams,
    reply: z.object({ token: z.null() })
  }),
  listVendorTokens: route({
    method: 'GET',
    path: '/v1/connect/tokens',
    auth: 'any',
    limit: 0,
    reply: z.object({ tokens: z.array(z.never()) })
  }),
  removeVendorToken: route({
    method: 'DELETE',
    path: '/v1/connect/:vendor',
    auth: 'any',
    limit: 0,
    params: vendorParams,
    reply: ok
  }),
  startVoice: route({
    method: 'POST',
    path: '/v1/voice/conversations',
    auth: 'any',
    limit: 4 * kib,
    body: z.unknown(),
    reply: refused
  }),
  readVoiceUsage: route({
    method: 'GET',
    path: '/v1/voice/usage',
    auth: 'any',
    limit: 0,
    reply: z.object({
      usedSeconds: z.literal(0),
      limitSeconds: z.literal(0),
      conversationCount: z.literal(0),
      conversationLimit: z.literal(0),
      elevenUserId: z.string()
    })
  })
} as const
