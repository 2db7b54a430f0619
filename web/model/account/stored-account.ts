import type { Renewal, SignedIn } from '../../../lib/client/index.ts'
import type { DeviceDb } from '../../core/device-db.ts'

/** The stored account, sealed, under the name `account`. */
export interface StoredAccount {
  /** base64 */
  secret: string
  /** Absent until the server has accepted the key, and after it ended the sign-in. */
  token?: string | undefined
  /** The key that renews the token; absent if the account was handed over as existing apps do. */
  renewal?: Renewal | undefined
  deviceName: string
  createdAt: number
  /** When the person proved that they have the key on paper. */
  keyCheckedAt?: number | undefined
  /** It was saved as a file from here: the owner may never have read its letters. */
  isKeyInFile?: boolean | undefined
  /** Do not ask for the check before this time. */
  remindAt?: number | undefined
  /** Home does not ask for it before this time. */
  homeAsksAt?: number | undefined
  /** When the server ended the sign-in. */
  unlinkedAt?: number | undefined
}

/** A key that the server has accepted, on this device. */
export type SignIn = StoredAccount & { token: string }

/** Its name in the device database. */
export const entry = 'account'

export function isKept(value: unknown): value is StoredAccount {
  return typeof value === 'object' && value !== null && 'secret' in value && typeof value.secret === 'string'
}

export function isSignedIn(value: unknown): value is SignIn {
  return isKept(value) && value.token !== undefined
}

/** The same account with the same sign-in, regardless of renewed tokens. */
export function isSameSignIn(one: StoredAccount, other: StoredAccount): boolean {
  if (one.secret !== other.secret || one.renewal?.deviceSeed !== other.renewal?.deviceSeed) return false
  return one.renewal !== undefined || one.token === other.token
}

/** The stored token of a sign-in: renewals elsewhere on this device apply here, and vice versa. */
export interface KeptTokens {
  /** A token that another tab, or the worker, may have renewed; undefined if the sign-in is over. */
  latest(): Promise<SignedIn | undefined>
  /** Store this before using the new token. */
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
