import type { Handshake } from '../../protocol/wire/handshake.ts'
import { machineId, sessionId } from '../../protocol/wire/ids.ts'
import type { TokenSource } from './rest.ts'

/** What a connection sees and may answer: the whole account, one session or one machine. */
export type ConnectionScope = { as: 'app' } | { as: 'session'; id: string } | { as: 'machine'; id: string }

/** Whether a person looks at the app, and whether it wants text that still grows. */
export interface AppState {
  state: 'active' | 'background'
  partials: boolean
  /** For how long an `active` app counts as looked at, since a person touched it; without it until it says otherwise. */
  watchedForMs?: number | undefined
}

/** How a connection says whose it is, each time it is made. */
export interface Introduction {
  /** Rejects when there is no token to be had. */
  handshake(): Promise<Handshake>
  /** After a refusal: whether there is another token than the one that was said last. */
  renew(): Promise<boolean>
}

export interface IntroductionOptions {
  token: string | TokenSource
  scope: ConnectionScope
  /** Asked at each connect. While it runs, tell changes with `send('app-state', …)`. */
  appState?: (() => AppState) | undefined
}

export function createIntroduction({ token, scope, appState }: IntroductionOptions): Introduction {
  let said = ''
  return {
    async handshake() {
      said = typeof token === 'string' ? token : await token.token()
      return { token: said, signals: true, echo: false, ...(appState && told(appState())), ...scoped(scope) }
    },
    // The clock of the device may be far off: a token that it takes for good may have ended.
    renew: async () => typeof token !== 'string' && (await token.renew(said)) !== said
  }
}

function told({ state, partials, watchedForMs }: AppState) {
  return { appState: state, partials, watchedForMs }
}

function scoped(scope: ConnectionScope) {
  switch (scope.as) {
    case 'app':
      return { clientType: 'user-scoped' } as const
    case 'session':
      return { clientType: 'session-scoped', sessionId: sessionId.parse(scope.id) } as const
    case 'machine':
      return { clientType: 'machine-scoped', machineId: machineId.parse(scope.id) } as const
  }
}
