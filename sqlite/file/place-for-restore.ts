import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import type { RestorePlace } from '../../lib/store/safekeeping.ts'
import { withAddon } from './addon.ts'
import { type Lock, lockDirectory } from './lock.ts'
import { refuseNetworkDisk } from './network-disk.ts'
import { cannotOpen } from './open-error.ts'
import { freshPrefix, type Places, replace, settle } from './replace.ts'

/** Locks the location of a restore, and completes an interrupted one there. */
export function placeForRestore(places: Places): RestorePlace {
  const beside = dirname(places.database)
  const locks: Lock[] = []
  const free = () => {
    for (const lock of locks) lock.free()
  }
  try {
    for (const directory of new Set([places.data, beside])) {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      refuseNetworkDisk(directory)
      locks.push(lockDirectory(directory))
    }
    settle(places)
  } catch (error) {
    free()
    throw cannotOpen(places.database, error)
  }
  return {
    database: places.database,
    hasAccounts: () => existsSync(places.database) && hasAccounts(places.database),
    makeFresh() {
      const database = mkdtempSync(join(beside, freshPrefix))
      return { database, data: places.data === beside ? database : mkdtempSync(join(places.data, freshPrefix)) }
    },
    replace: (unpacked, asideName) => replace(places, unpacked, asideName),
    free
  }
}

function hasAccounts(file: string): boolean {
  let database: Database.Database | undefined
  try {
    database = new Database(file, withAddon({ readonly: true, timeout: 50 }))
    return database.prepare('SELECT 1 FROM account').get() !== undefined
  } catch {
    return true
  } finally {
    database?.close()
  }
}
