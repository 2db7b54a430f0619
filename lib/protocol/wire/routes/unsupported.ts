import * as v from '../../../schema.ts'
import { accountId } from '../ids.ts'
import { kib, ok, route } from './route.ts'

const vendorParams = v.object({ vendor: v.picklist(['openai', 'anthropic', 'gemini']) })
const uid = v.object({ uid: v.text(200) })
const refused = v.never()

/**
 * Features that existing clients request and this server does not have: friends, GitHub, voice, vendor tokens. Answered as
 * empty or not configured, in shapes that they accept; a missing route would be requested again forever.
 */
export const unsupportedRoutes = {
  listFriends: route({
    method: 'GET',
    path: '/v1/friends',
    auth: 'any',
    limit: 0,
    reply: v.object({ friends: v.array(v.never()) })
  }),
  addFriend: route({
    method: 'POST',
    path: '/v1/friends/add',
    auth: 'any',
    limit: 4 * kib,
    body: uid,
    reply: v.object({ user: v.null() })
  }),
  removeFriend: route({
    method: 'POST',
    path: '/v1/friends/remove',
    auth: 'any',
    limit: 4 * kib,
    body: uid,
    reply: v.object({ user: v.null() })
  }),
  readFeed: route({
    method: 'GET',
    path: '/v1/feed',
    auth: 'any',
    limit: 0,
    reply: v.object({ items: v.array(v.never()), hasMore: v.literal(false) })
  }),
  searchUsers: route({
    method: 'GET',
    path: '/v1/user/search',
    auth: 'any',
    limit: 0,
    reply: v.object({ users: v.array(v.never()) })
  }),
  readUser: route({
    method: 'GET',
    path: '/v1/user/:id',
    auth: 'any',
    limit: 0,
    params: v.object({ id: accountId }),
    reply: refused
  }),
  checkVersion: route({
    method: 'POST',
    path: '/v1/version',
    auth: 'none',
    limit: 4 * kib,
    body: v.unknown(),
    reply: v.object({ updateUrl: v.null() })
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
    body: v.unknown(),
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
    body: v.unknown(),
    reply: refused
  }),
  readVendorToken: route({
    method: 'GET',
    path: '/v1/connect/:vendor/token',
    auth: 'any',
    limit: 0,
    params: vendorParams,
    reply: v.object({ token: v.null() })
  }),
  listVendorTokens: route({
    method: 'GET',
    path: '/v1/connect/tokens',
    auth: 'any',
    limit: 0,
    reply: v.object({ tokens: v.array(v.never()) })
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
    body: v.unknown(),
    reply: refused
  }),
  readVoiceUsage: route({
    method: 'GET',
    path: '/v1/voice/usage',
    auth: 'any',
    limit: 0,
    reply: v.object({
      usedSeconds: v.literal(0),
      limitSeconds: v.literal(0),
      conversationCount: v.literal(0),
      conversationLimit: v.literal(0),
      elevenUserId: v.string()
    })
  })
} as const
