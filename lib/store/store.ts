import type { AccountStore } from './accounts.ts'
import type { ArtifactStore } from './artifacts.ts'
import type { AttachmentStore } from './attachments.ts'
import type { CellStore } from './cells.ts'
import type { ChangeStore } from './changes.ts'
import type { DeviceStore } from './devices.ts'
import type { KvStore } from './kv.ts'
import type { AccessKeyStore, MachineStore } from './machines.ts'
import type { MessageStore } from './messages.ts'
import type { NoticeStore, PushTokenStore } from './notices.ts'
import type { PairingRequestStore, PairingStore } from './pairings.ts'
import type { PresenceStore } from './presence.ts'
import type { RemovalStore } from './removal.ts'
import type { Safekeeping } from './safekeeping.ts'
import type { SessionStore } from './sessions.ts'
import type { SignInStore } from './sign-in.ts'
import type { SignupStore } from './signup.ts'
import type { StorageStore } from './storage.ts'
import type { TokenStore } from './tokens.ts'
import type { UsageStore } from './usage.ts'

/** A write the store refused because the disk has no room; nothing of it was kept and the store goes on. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull'
}
/** Another program holds the database for longer than a caller can wait; nothing was kept, and the store goes on. */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy'
}
/** A stored row is not what was written, because the disk or the memory failed. Only this row is refused. */
export class RowDamaged extends Error {
  override readonly name = 'RowDamaged'
}
/** The store can no longer promise anything; the process must end and recover at its next start. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken'
}

/**
 * What a server keeps, as a core and capabilities of which each has a file. A driver that breaks one of these sentences loses or
 * shows what it must not, and nothing above it would notice:
 *
 * - Each method is one transaction. A write resolves only when its effect would survive power loss, and nothing of it is readable
 *   before; else a client throws away what it was told is safe.
 * - Rows of another account are never read or changed: to a caller they are missing.
 * - A clock, a seq and a version only rise, and whoever can read one can read all below it; else clients that are told "everything
 *   up to 7" never hear of what becomes 6 later.
 * - With `quotas` a write that would exceed one throws `OverQuota`. It throws `StoreFull`, `StoreBusy`, `RowDamaged` or `StoreBroken`
 *   when it cannot do what was asked, and has kept nothing then; any other error is a bug.
 * - Functions handed in, such as those that make tokens, run inside the transaction and run again when it is tried again: only
 *   what the last run returned is stored, so they must not count or announce anything.
 * - What ends is judged by `time()`, one clock for all instances; what is called `now` is that time when something ends by it.
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
    NoticeStore {
  /** The secret of this name that all instances share: the given one, unless there is one already. */
  keepSecret(name: string, fresh: Uint8Array): Promise<Uint8Array>
  /** The clock by which every instance judges how old something is, in milliseconds since 1970. */
  time(): Promise<number>

  /** Only of a store that keeps files of its own. */
  readonly safekeeping?: Safekeeping | undefined

  close(): Promise<void>
}
