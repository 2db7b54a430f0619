import type { Handshake } from '../../protocol/wire/handshake.ts'
import { machineId, sessionId } from '../../protocol/wire/ids.ts'
import * as v from '../../schema.ts'
import type { TokenSource } from './rest.ts'

/** What a connection sees and may answer: the whole account, one session or one machine. */
export type ConnectionScope = { as: 'app' } | { as: 'session'; id: string } | { as: 'machine'; id: string }

/** Whether a person looks at the app, and whether it wants growing text. */
export interface AppState {
  state: 'active' | 'background'
  partials: boolean
  /**
   * How long an `active` app counts as in use after a person touched it; without it, until it reports
   * otherwise.
   */
  watchedForMs?: number | undefined
}

/** How a connection authenticates, each time it is made. */
export interface SocketSignIn {
  /** Rejects if there is no token. */
  handshake(): Promise<Handshake>
  /** After a rejection: whether there is another token than the last one sent. */
  renew(): Promise<boolean>
}

export interface SocketSignInOptions {
  token: string | TokenSource
  scope: ConnectionScope
  /** Read at each connect. While connected, send changes with `send('app-state', …)`. */
  appState?: (() => AppState) | undefined
}

export function createSocketSignIn({ token, scope, appState }: SocketSignInOptions): SocketSignIn {
  let sentToken = ''
  return {
    async handshake() {
      sentToken = typeof token === 'string' ? token : await token.token()
      return { token: sentToken, signals: true, echo: false, ...(appState && appStateFields(appState())), ...scoped(scope) }
    },
    // The device's clock may be far off: a token that it considers valid may have expired.
    renew: async () => typeof token !== 'string' && (await token.renew(sentToken)) !== sentToken
  }
}

function appStateFields({ state, partials, watchedForMs }: AppState) {
  return { appState: state, partials, watchedForMs }
}

function scoped(scope: ConnectionScope) {
  switch (scope.as) {
    case 'app':
      return { clientType: 'user-scoped' } as const
    case 'session':
      return { clientType: 'session-scoped', sessionId: v.parse(sessionId, scope.id) } as const
    case 'machine':
      return { clientType: 'machine-scoped', machineId: v.parse(machineId, scope.id) } as const
  }
}
