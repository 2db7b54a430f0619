import { type FailureCode, failure } from '../../../protocol/wire/failures.ts'
import type { unsupportedRoutes } from '../../../protocol/wire/routes/unsupported.ts'
import type { ReplyOf } from '../../../protocol/wire/routes.ts'

const ok = { success: true } as const

/**
 * Answers for features that this server does not have: empty, nobody, not configured. Nothing is looked up
 * or stored.
 */
export const unsupportedHandlers: { [Name in keyof typeof unsupportedRoutes]: () => Promise<ReplyOf<Name>> } = {
  listFriends: async () => ({ friends: [] }),
  addFriend: async () => ({ user: null }),
  removeFriend: async () => ({ user: null }),
  readFeed: async () => ({ items: [], hasMore: false }),
  searchUsers: async () => ({ users: [] }),
  readUser: refuse('user-not-found'),
  checkVersion: async () => ({ updateUrl: null }),
  startGithub: refuse('github-not-offered'),
  finishGithub: refuse('github-not-offered'),
  hearGithub: refuse('github-not-offered'),
  disconnectGithub: async () => ok,
  registerVendorToken: refuse('vendor-tokens-not-kept'),
  readVendorToken: async () => ({ token: null }),
  listVendorTokens: async () => ({ tokens: [] }),
  removeVendorToken: async () => ok,
  startVoice: refuse('voice-not-offered'),
  readVoiceUsage: async () => ({ usedSeconds: 0, limitSeconds: 0, conversationCount: 0, conversationLimit: 0, elevenUserId: '' })
}

function refuse(code: FailureCode): () => Promise<never> {
  return async () => {
    throw failure(code)
  }
}
