import type { LinkFacts, Progress } from '../../../../web/core/connection.ts'
import type { Alert } from '../../../../web/core/worker-messages.ts'
import type { PairingView } from '../../../../web/join/pairing.ts'
import type { ReplyState } from '../../../../web/model/outbox/replies.ts'
import type { WaitingStart } from '../../../../web/model/outbox/starts.ts'
import type { Home } from '../../../../web/model/store.ts'
import type { MachineResponses, ServerResponses } from './responses.ts'

/** The whole app at one address, with the storage of this device and the answers it gets. */
export interface AppStory {
  /** Including query and fragment. */
  readonly at: string
  /** `none`: no account on this device. `private`: a private window, without an account. `unkept`: this browser cannot store anything. */
  readonly account?: 'none' | 'private' | 'unkept' | 'insecure' | undefined
  readonly home: Home
  readonly server: ServerResponses
  readonly machine: { readonly [Name in keyof MachineResponses]: MachineResponses[Name] | 'away' | 'gone' | undefined }
  /** What a machine answers instead when it is asked again. */
  readonly later?: MachineResponses | undefined
  readonly link?: Partial<LinkFacts> | undefined
  readonly progress?: Progress | undefined
  /** Entries queued on this device. */
  readonly unsent?: { readonly texts: readonly { session: string; text: string }[]; readonly starts: readonly WaitingStart[] } | undefined
  /** The server ends the sign-in of this device. */
  readonly isEnded?: boolean | undefined
  readonly isKeyChecked?: boolean | undefined
  readonly isKeyInFile?: boolean | undefined
  /** The account was made in this window, on a device with a screen lock. */
  readonly isFirstRun?: boolean | undefined
  /** What the database of this device has. */
  readonly stored?: Readonly<Record<string, unknown>> | undefined
  /** What has no space left. */
  readonly full?: 'server' | 'device' | undefined
  /** How far the clock of this device is ahead, in ms. */
  readonly clockOffMs?: number | undefined
  /** What the server says about itself besides its version. */
  readonly says?: { readonly acceptsAccounts?: boolean; readonly needsSetupCode?: boolean } | undefined
  /** The error for a sign-in. */
  readonly signIn?: { readonly status: number; readonly error: string } | undefined
  /** Whether notifications can reach this browser; `on` if they are turned on here. */
  readonly reach?: 'on' | 'undetermined' | 'denied' | 'needs-home-screen' | 'unsupported' | undefined
  /** The progress of an answer. */
  readonly answered?: ReplyState | undefined
  readonly pairing?: PairingView | undefined
  /** What comes of the request of this device for an account; it waits for ever without. */
  readonly request?: 'expired' | 'unreadable' | 'has-account' | 'unreachable' | 'trouble' | undefined
  /** Stored settings, and other values that are not secret. */
  readonly kept?: Readonly<Record<string, string>> | undefined
  /** An in-app alert. */
  readonly alert?: Alert | undefined
  /** What to press then, in order, by the beginning of the name. */
  readonly press?: readonly string[] | undefined
}

let now: AppStory | undefined

export function show(story: AppStory): void {
  now = story
}

export function shown(): AppStory {
  if (now === undefined) throw new Error('no story is shown')
  return now
}
