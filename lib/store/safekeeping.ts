import { CannotStart } from '../exit.ts'

/** How far long work has come. */
export interface CopyProgress {
  done: number
  total: number
}

/** What is known of the rows at rest since the store was opened. */
export interface Soundness {
  /** Rows whose checksum was compared by `scrub`. */
  scrubbed: number
  /** How often `scrub` has come to the end. */
  rounds: number
  /** Rows found damaged, by a read or by `scrub`; each is counted once. */
  damaged: number
  /** True from a write that found the disk full until there is room again; meanwhile only what takes no room is accepted. */
  isFull: boolean
  /** What the log of the database takes up on the disk, as last looked at; 0 where there is none. */
  logBytes: number
  /** When the log was last seen to move, or to be short. Long ago: another program reads without an end. */
  logMovedAt: number
}

export interface Inspection {
  accounts: number
  sessions: number
  messages: number
  /** In words; empty when all is well. */
  flaws: string[]
}

/**
 * For a store that keeps its own files: copies of them, and looking after the rows and the disk. One in a database that somebody
 * else looks after leaves it out: the server then compares no checksums, never says that a disk is full, and refuses backups in a sentence.
 */
export interface Safekeeping {
  /** Copies all that is committed into a new, private file, while the store goes on; what is committed meanwhile is in it too. */
  copyTo(file: string, tell: (progress: CopyProgress) => void): Promise<void>
  /** Compares the next rows that hold what clients sealed with their checksums, about 1 MiB of them; begins anew when it came to the end. */
  scrub(): Promise<void>
  soundness(): Soundness
  /** Looks whether a disk that was full has room again, and keeps some of it for the next time; looks at the log too. */
  makeRoom(): Promise<void>
  /** Reads everything and names what is wrong with it. Holds up its caller for as long as that takes, so it is for a copy. */
  inspect(): Promise<Inspection>
  /**
   * Makes a copy that comes from a backup fit to be served: another epoch, numbers and versions above all that clients may have seen
   * since, without the tokens that ended since, and without logins over challenges that clients chose until then, because those used
   * since are not known.
   */
  becomeRestored(since: { endedTokens: readonly string[]; holdLoginsUntil: number; now: number }): Promise<{ endedTokens: number }>
}

/** Throws `CannotStart`, for the person who asked, where the store leaves it out. */
export function safekeepingOf({ safekeeping }: { readonly safekeeping?: Safekeeping | undefined }): Safekeeping {
  if (!safekeeping) throw new CannotStart('This store cannot be copied into a file; back it up with the tools of its database.')
  return safekeeping
}

/** A place where a backup takes the place of what is there. */
export interface RestorePlace {
  database: string
  /** An empty directory beside the database, and one beside the small files; the same where these are together. */
  makeFresh(): { database: string; data: string }
  /** Puts the unpacked files in place and what was there aside, as a whole, also when the power fails; returns where that is. */
  replace(
    unpacked: { fresh: { database: string; data: string }; databaseName: string; names: readonly string[] },
    asideName: string
  ): string[]
  free(): void
}
