import { CannotStart } from '../exit.ts'

/** The progress of long work. */
export interface CopyProgress {
  done: number
  total: number
}

/** What is known of stored rows since the store was opened. */
export interface Soundness {
  /** Rows whose checksum was compared by `scrub`. */
  scrubbed: number
  /** How often `scrub` has reached the end. */
  rounds: number
  /** Rows found damaged, by a read or by `scrub`; each is counted once. */
  damaged: number
  /**
   * True from a write that found the disk full until there is space again; meanwhile only writes that
   * need no space are accepted.
   */
  isFull: boolean
  /** The size of the WAL on disk, when last checked; 0 if there is none. */
  logBytes: number
  /** When the WAL was last checkpointed, or short. Long ago: another program reads endlessly. */
  logMovedAt: number
}

export interface Inspection {
  accounts: number
  sessions: number
  messages: number
  /** In words; empty if all is well. */
  flaws: string[]
}

/**
 * For a store that manages its own files: copying them, and checking rows and disk. A store in a
 * database that someone else manages leaves it out: the server then compares no checksums, never
 * reports a full disk, and rejects backups in a sentence.
 */
export interface Safekeeping {
  /**
   * Copies everything committed into a new, private file, while the store continues; later commits are
   * in it too.
   */
  copyTo(file: string, tell: (progress: CopyProgress) => void): Promise<void>
  /**
   * Compares the next rows of sealed data with their checksums, about 1 MiB of them; starts over at
   * the end.
   */
  scrub(): Promise<void>
  soundness(): Soundness
  /**
   * Checks whether a full disk has space again, and reserves some of it for the next time; checks the
   * WAL too.
   */
  makeRoom(): Promise<void>
  /**
   * Reads everything and lists what is wrong with it. Blocks its caller for as long as that takes, so
   * it is for a copy.
   */
  inspect(): Promise<Inspection>
  /**
   * Prepares a copy from a backup to be served: another epoch, numbers and versions above all that
   * clients may have seen since, without the tokens that ended since, and without logins with
   * challenges that clients chose until then, because those used since are unknown.
   */
  becomeRestored(since: { endedTokens: readonly string[]; holdLoginsUntil: number; now: number }): Promise<{ endedTokens: number }>
}

/** Throws `CannotStart`, for the person who asked, if the store leaves it out. */
export function safekeepingOf({ safekeeping }: { readonly safekeeping?: Safekeeping | undefined }): Safekeeping {
  if (!safekeeping) throw new CannotStart('This store cannot be copied into a file; back it up with the tools of its database.')
  return safekeeping
}

/** Where a backup replaces the current data. */
export interface RestorePlace {
  database: string
  /** Whether there is anything to lose; true if the database cannot be read. */
  hasAccounts(): boolean
  /**
   * An empty directory next to the database, and one next to the small files; the same if these are
   * together.
   */
  makeFresh(): { database: string; data: string }
  /**
   * Puts the unpacked files in place and moves the old ones aside, atomically even across a power cut;
   * returns where the old ones are.
   */
  replace(
    unpacked: { fresh: { database: string; data: string }; databaseName: string; names: readonly string[] },
    asideName: string
  ): string[]
  free(): void
}
