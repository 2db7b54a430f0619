import type { LinkFacts, Progress } from '../../../../web/core/connection.ts'
import type { Alert } from '../../../../web/core/worker-messages.ts'
import type { PairingView } from '../../../../web/join/pairing.ts'
import type { ReplyState } from '../../../../web/model/outbox/replies.ts'
import type { WaitingStart } from '../../../../web/model/outbox/starts.ts'
import type { Home } from '../../../../web/model/store.ts'
import type { ToldByMachine, ToldByServer } from './told.ts'

/** The whole app at one address, with what this device keeps and what is answered to it. */
export interface AppStory {
  /** With its query and its fragment. */
  readonly at: string
  /** `none`: no account on this device. `private`: nor will there be one once the window is closed. `unkept`: this browser keeps nothing. */
  readonly account?: 'none' | 'private' | 'unkept' | 'insecure' | undefined
  readonly home: Home
  readonly server: ToldByServer
  readonly machine: ToldByMachine | Record<string, 'away' | 'gone'>
  readonly link?: Partial<LinkFacts> | undefined
  readonly progress?: Progress | undefined
  /** What waits on this device for a link. */
  readonly unsent?: { readonly texts: readonly { session: string; text: string }[]; readonly starts: readonly WaitingStart[] } | undefined
  /** The server ends the sign-in of this device. */
  readonly isEnded?: boolean | undefined
  readonly isKeyChecked?: boolean | undefined
  readonly isKeyInFile?: boolean | undefined
  /** The account was made in this window, on a device with a screen lock. */
  readonly isFirstRun?: boolean | undefined
  /** Who has no room left. */
  readonly full?: 'server' | 'device' | undefined
  /** How much the clock of this device is ahead, in ms. */
  readonly clockOffMs?: number | undefined
  /** How a sign-in is refused. */
  readonly signIn?: { readonly status: number; readonly error: string } | undefined
  /** Whether notifications can come to this browser; `on` when they were turned on here. */
  readonly reach?: 'on' | 'undetermined' | 'denied' | 'needs-home-screen' | 'unsupported' | undefined
  /** Where what is answered has come to. */
  readonly answered?: ReplyState | undefined
  readonly pairing?: PairingView | undefined
  /** What this browser keeps of the settings, and of what is not secret. */
  readonly kept?: Readonly<Record<string, string>> | undefined
  /** What a notification would say, were nobody here. */
  readonly alert?: Alert | undefined
  /** What is pressed then, one after another, by the beginning of its name. */
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
