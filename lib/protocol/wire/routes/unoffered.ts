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
    about: 'Always empty: accounts of this server do not see each other.',
    reply: z.object({ friends: z.array(z.never()) })
  }),
  addFriend: route({
    method: 'POST',
    path: '/v1/friends/add',
    auth: 'any',
    limit: 4 * kib,
    about: 'Finds nobody.',
    body: uid,
    reply: z.object({ user: z.null() })
  }),
  removeFriend: route({
    method: 'POST',
    path: '/v1/friends/remove',
    auth: 'any',
    limit: 4 * kib,
    about: 'Finds nobody.',
    body: uid,
    reply: z.object({ user: z.null() })
  }),
  readFeed: route({
    method: 'GET',
    path: '/v1/feed',
    auth: 'any',
    limit: 0,
    about: 'Always empty, as there is nobody to hear from.',
    reply: z.object({ items: z.array(z.never()), hasMore: z.literal(false) })
  }),
  searchUsers: route({
    method: 'GET',
    path: '/v1/user/search',
    auth: 'any',
    limit: 0,
    about: 'Finds nobody.',
    reply: z.object({ users: z.array(z.never()) })
  }),
  readUser: route({
    method: 'GET',
    path: '/v1/user/:id',
    auth: 'any',
    limit: 0,
    about: 'Refused for every id, also for the own one.',
    params: z.object({ id: accountId }),
    reply: refused
  }),
  checkVersion: route({
    method: 'POST',
    path: '/v1/version',
    auth: 'none',
    limit: 4 * kib,
    about: 'Never asks an app to update.',
    body: z.unknown(),
    reply: z.object({ updateUrl: z.null() })
  }),
  startGithub: route({
    method: 'GET',
    path: '/v1/connect/github/params',
    auth: 'any',
    limit: 0,
    about: 'Refused: GitHub is not offered.',
    reply: refused
  }),
  finishGithub: route({
    method: 'GET',
    path: '/v1/connect/github/callback',
    auth: 'none',
    limit: 0,
    about: 'Refused: GitHub is not offered.',
    reply: refused
  }),
  hearGithub: route({
    method: 'POST',
    path: '/v1/connect/github/webhook',
    auth: 'none',
    limit: 64 * kib,
    about: 'Refused: GitHub is not offered.',
    body: z.unknown(),
    reply: refused
  }),
  disconnectGithub: route({
    method: 'DELETE',
    path: '/v1/connect/github',
    auth: 'any',
    limit: 0,
    about: 'Succeeds: nothing is connected.',
    reply: ok
  }),
  registerVendorToken: route({
    method: 'POST',
    path: '/v1/connect/:vendor/register',
    auth: 'any',
    limit: 64 * kib,
    about: 'Refused: this server keeps nothing it could read.',
    params: vendorParams,
    body: z.unknown(),
    reply: refused
  }),
  readVendorToken: route({
    method: 'GET',
    path: '/v1/connect/:vendor/token',
    auth: 'any',
    limit: 0,
    about: 'Always null.',
    params: vendorParams,
    reply: z.object({ token: z.null() })
  }),
  listVendorTokens: route({
    method: 'GET',
    path: '/v1/connect/tokens',
    auth: 'any',
    limit: 0,
    about: 'Always empty.',
    reply: z.object({ tokens: z.array(z.never()) })
  }),
  removeVendorToken: route({
    method: 'DELETE',
    path: '/v1/connect/:vendor',
    auth: 'any',
    limit: 0,
    about: 'Succeeds: nothing is kept.',
    params: vendorParams,
    reply: ok
  }),
  startVoice: route({
    method: 'POST',
    path: '/v1/voice/conversations',
    auth: 'any',
    limit: 4 * kib,
    about: 'Refused: voice is not offered.',
    body: z.unknown(),
    reply: refused
  }),
  readVoiceUsage: route({
    method: 'GET',
    path: '/v1/voice/usage',
    auth: 'any',
    limit: 0,
    about: 'Nothing used and nothing left.',
    reply: z.object({
      usedSeconds: z.literal(0),
      limitSeconds: z.literal(0),
      conversationCount: z.literal(0),
      conversationLimit: z.literal(0),
      elevenUserId: z.string()
    })
  })
} as const
