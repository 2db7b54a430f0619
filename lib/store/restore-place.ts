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
