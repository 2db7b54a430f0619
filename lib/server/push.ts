import type { SessionId } from '../protocol/wire/ids.ts'
import type { PushKind } from '../protocol/wire/routes/push.ts'

/** What a notification tells. Titles and texts are there only when the operator allows them to leave the server. */
export interface PushNotice {
  /** `device`: somebody signed in to the account. */
  kind: PushKind | 'device'
  /** The session it is about, if any. */
  session: SessionId | undefined
  title: string
  body: string
}

/**
 * What came of one token: `delivered` to the provider, `gone` when the provider knows it no more, `unknown` when it is of
 * no provider, `refused` by the provider, `unreachable` when there was no answer, `late` when time was up.
 */
export type PushReceipt = { token: string; outcome: 'delivered' | 'gone' | 'unknown' | 'refused' | 'unreachable' | 'late' }

/** Hands a notice to each token and says what came of it; resolves soon after the signal aborts. Embedders may bring their own. */
export type Push = (notice: PushNotice, tokens: readonly string[], signal: AbortSignal) => Promise<PushReceipt[]>

/** One service that delivers notifications. */
export interface PushProvider {
  knows(token: string): boolean
  send: Push
}

export type PushResult =
  | { result: 'sent'; tokens: number; delivered: number }
  | { result: 'partial' | 'failed'; tokens: number; delivered: number; reason: Exclude<PushReceipt['outcome'], 'delivered'> }
  | { result: 'suppressed'; reason: 'active-ui-client' | 'short-turn' }
  | { result: 'no_tokens' }

/** Each token goes to the provider that knows it. */
export function pushThrough(providers: readonly PushProvider[]): Push {
  return async (notice, tokens, signal) => {
    const providerOf = (token: string) => providers.find(provider => provider.knows(token))
    const sent = [...Map.groupBy(tokens, providerOf)].map(([provider, own]) =>
      provider ? provider.send(notice, own, signal) : own.map(token => ({ token, outcome: 'unknown' as const }))
    )
    return (await Promise.all(sent)).flat()
  }
}
