import type { AccountStore } from './access/accounts.ts'
import type { DeviceStore } from './access/devices.ts'
import type { PairingRequestStore, PairingStore } from './access/pairings.ts'
import type { SignInStore } from './access/sign-in.ts'
import type { SignupStore } from './access/signup.ts'
import type { TokenStore } from './access/tokens.ts'
import type { ArtifactStore } from './artifacts.ts'
import type { AttachmentStore } from './attachments.ts'
import type { CellStore } from './cells.ts'
import type { ChangeStore } from './changes.ts'
import type { KvStore } from './kv.ts'
import type { AccessKeyStore, MachineStore } from './machines.ts'
import type { MessageStore } from './messages.ts'
import type { NoticeStore, PushTokenStore } from './notices.ts'
import type { PresenceStore } from './presence.ts'
import type { RemovalStore } from './removal.ts'
import type { Safekeeping } from './safekeeping.ts'
import type { SessionStore } from './sessions.ts'
import type { StorageStore } from './storage.ts'
import type { UsageStore } from './usage.ts'
import type { WorkStore } from './work.ts'

/** A write rejected because the disk is full; nothing of it was stored and the store continues. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull'
}
/**
 * Another program locks the database, or it cannot be reached, for longer than a caller can wait; the store
 * continues. Nothing was stored, unless the connection to a database elsewhere broke while it committed: then the
 * caller, who repeats the request as after a lost reply, may find it done.
 */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy'
}
/** A stored row is not what was written, because the disk or the memory failed. Only this row is rejected. */
export class RowDamaged extends Error {
  override readonly name = 'RowDamaged'
}
/** The store can no longer guarantee anything; the process must end and recover at its next start. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken'
}

/**
 * Everything that a server stores: a core, and capabilities with one file each. A driver that breaks one of
 * these rules loses data or exposes data it must not, and nothing above it would notice:
 *
 * - Each method is one transaction. A write resolves only when its effect would survive a power cut, and nothing
 *   of it is readable before; otherwise a client discards what it was told is safe.
 * - Rows of another account are never read or changed: for a caller they are missing.
 * - A clock, a seq and a version only rise, and whoever can read one can read everything below it; otherwise a
 *   client that has everything up to 7 never gets a 6 that appears later.
 * - With `quotas` a write that would exceed one throws `OverQuota`. A method throws `StoreFull`, `StoreBusy`,
 *   `RowDamaged` or `StoreBroken` when it cannot do what was asked, and has stored nothing then, except as `StoreBusy`
 *   says; any other error is a bug.
 * - Functions passed in, such as those that create tokens, run inside the transaction and run again when it is
 *   retried: only the result of the last run is stored, so they must not count or announce anything.
 * - Expiry is judged by `time()`, one clock for all instances; a parameter called `now` is that time if anything
 *   expires by it.
 */
export interface Store
  extends AccountStore,
    SignInStore,
    SignupStore,
    TokenStore,
    DeviceStore,
    PairingStore,
    PairingRequestStore,
    SessionStore,
    MessageStore,
    MachineStore,
    AccessKeyStore,
    PresenceStore,
    CellStore,
    RemovalStore,
    ChangeStore,
    KvStore,
    ArtifactStore,
    AttachmentStore,
    UsageStore,
    StorageStore,
    PushTokenStore,
    NoticeStore,
    WorkStore {
  /** The secret of this name that all instances share: the given one, unless it already exists. */
  keepSecret(name: string, fresh: Uint8Array): Promise<Uint8Array>
  /** The next `keepSecret` of this name keeps what it is given. */
  forgetSecret(name: string): Promise<void>
  /** The clock by which every instance judges ages, in milliseconds since 1970. */
  time(): Promise<number>

  /** Only if the store manages its own files. */
  readonly safekeeping?: Safekeeping | undefined
  /**
   * Whether a write that failed with `StoreBusy` may be stored all the same. Nobody announces it then, so a server with such a
   * store looks for changes that its clients were not told, every two seconds, also if it is the only one.
   */
  readonly canStoreUntold?: boolean | undefined

  close(): Promise<void>
}
