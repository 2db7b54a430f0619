import type Database from 'better-sqlite3'
import { embeddedAddon } from '../../lib/assets.ts'

/**
 * Options for every opened database: the single-file program contains the addon itself, whose types
 * only know a path.
 */
export function withAddon(options: Database.Options): Database.Options {
  const addon = embeddedAddon('better_sqlite3.node')
  return addon ? Object.assign(options, { nativeBinding: addon }) : options
}
