import type { Fetch, TokenSource } from '../../client/link/rest.ts'
import { keepToken } from '../../client/sign-in/token-keeper.ts'
import type { Credentials, Home } from './credentials.ts'

/**
 * The token of this computer, good for as long as it is linked: renewed with the key of the device, and shared with the other
 * processes of the same folder. One that cannot be renewed stays the text that it is.
 */
export function keptToken(options: {
  home: Pick<Home, 'credentials' | 'noteRenewal'>
  credentials: Credentials
  fetch: Fetch
}): string | TokenSource {
  const { home, fetch } = options
  const { server, token, renewal } = options.credentials
  if (!renewal) return token
  return keepToken({
    server,
    fetch,
    kept: { token, renewal },
    // After a new login the folder may hold the token of another account, for which nothing here is sealed.
    latest: async () => {
      const kept = quietly(() => home.credentials(server))
      return kept?.renewal?.deviceSeed === renewal.deviceSeed ? kept : undefined
    },
    onRenewed: signedIn => quietly(() => home.noteRenewal(server, signedIn))
  })
}

// A full disk costs another renewal later, not the link: what renews is the key, which was there before.
function quietly<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
