import type { Renewal, SignedIn } from '../../../lib/client/index.ts'
import type { DeviceDb } from '../../core/device-db.ts'

/** What is kept of the account, sealed, under the name `account`. */
export interface KeptAccount {
  /** base64 */
  secret: string
  /** Absent until the server has accepted the key, and once it ended the sign-in. */
  token?: string | undefined
  /** With what the token is renewed; absent when it was handed over in the way of existing apps. */
  renewal?: Renewal | undefined
  deviceName: string
  createdAt: number
  /** When the person proved to have the key on paper. */
  keyCheckedAt?: number | undefined
  /** It was saved as a file from here: its owner may never have read its letters. */
  isKeyInFile?: boolean | undefined
  /** Not to ask for that before. */
  remindAt?: number | undefined
  /** Home does not ask for it before that. */
  homeAsksAt?: number | undefined
  /** When the server ended the sign-in. */
  unlinkedAt?: number | undefined
}

/** A key that the server has accepted, on this device. */
export type SignIn = KeptAccount & { token: string }

/** Its name among what the device keeps. */
export const entry = 'account'

export function isKept(value: unknown): value is KeptAccount {
  return typeof value === 'object' && value !== null && 'secret' in value && typeof value.secret === 'string'
}

export function isSignedIn(value: unknown): value is SignIn {
  return isKept(value) && value.token !== undefined
}

/** The same account by the same sign-in, however often its token was renewed. */
export function isSameSignIn(one: KeptAccount, other: KeptAccount): boolean {
  if (one.secret !== other.secret || one.renewal?.deviceSeed !== other.renewal?.deviceSeed) return false
  return one.renewal !== undefined || one.token === other.token
}

/** The token of a sign-in as it is kept: what has been renewed elsewhere on this device counts here, and the other way round. */
export interface KeptTokens {
  /** What another tab, or the worker, may have renewed meanwhile; undefined when the sign-in is over. */
  latest(): Promise<SignedIn | undefined>
  /** To be kept before the new token is used. */
  onRenewed(signedIn: SignedIn): Promise<void>
}

export function keptTokens(db: () => Promise<Pick<DeviceDb, 'read' | 'change'>>, of: SignIn, changed: () => void): KeptTokens {
  return {
    async latest() {
      const kept = await (await db()).read(entry)
      return isSignedIn(kept) && isSameSignIn(kept, of) ? { token: kept.token, renewal: kept.renewal } : undefined
    },
    async onRenewed({ token, renewal }) {
      const renewed = (kept: unknown) => (isKept(kept) && isSameSignIn(kept, of) ? { ...kept, token, renewal } : undefined)
      await (await db()).change(entry, renewed)
      changed()
    }
  }
}
