import { type DBSchema, type IDBPDatabase, type IDBPObjectStore, type IDBPTransaction, openDB } from 'idb'
import type { Draft, Journal } from '../../lib/client/index.ts'
import { withSpaceCheck } from './free-space.ts'

/**
 * The storage of this device. Every value is sealed with an AES-GCM key that the browser stores as non-extractable, so no
 * script can take it away. It does not stop anyone who can run code in this page, unlock this device, or copy the browser's whole
 * profile, in which Chromium writes the key in clear.
 */
export interface DeviceDb {
  /** Undefined if nothing is stored under this name, or it can no longer be decrypted. */
  read(name: string): Promise<unknown>
  /** `value` is any JSON value. */
  write(name: string, value: unknown): Promise<void>
  /**
   * Reads, changes and writes atomically across tabs; `next` is called again if another tab was faster. If it returns undefined,
   * nothing changes. Resolves to the stored value.
   */
  change(name: string, next: (kept: unknown) => unknown): Promise<unknown>
  remove(name: string): Promise<void>
  /** Erases everything except the entry `name`; does nothing if `unless` accepts that entry. */
  clear(name: string, unless: (kept: unknown) => boolean): Promise<void>
  /** Messages queued for the server, for its outbox; they are already sealed. One is open at a time. */
  journal(): Journal
  /** Erases everything, including the key. */
  erase(): Promise<void>
}

let opened: Promise<DeviceDb> | undefined

/** The one database of this origin. Rejects if the browser cannot store anything (some private windows). */
export function deviceDb(): Promise<DeviceDb> {
  opened ??= openDeviceDb('afield')
  return opened
}

export async function openDeviceDb(name: string): Promise<DeviceDb> {
  const db = await openDB<Schema>(name, 1, {
    upgrade(fresh) {
      fresh.createObjectStore('keys')
      fresh.createObjectStore('sealed')
      fresh.createObjectStore('drafts', { autoIncrement: true }).createIndex('byId', ['session', 'localId'], { unique: true })
    },
    // A tab with a newer app waits for this one to close the database.
    blocking: (_current, _blocked, event) => (event.target as IDBDatabase | null)?.close()
  })
  const { inTurn, alone } = takeTurns()
  return {
    read: entry => inTurn(entry, async () => (await look(db, entry)).value),
    async write(entry, value) {
      await inTurn(entry, async () => {
        while (!(await put(db, entry, await deviceKey(db), value)));
      })
    },
    change: (entry, next) =>
      inTurn(entry, async () => {
        for (;;) {
          const seen = await look(db, entry)
          const value = next(seen.value)
          if (value === undefined) return seen.value
          if (await put(db, entry, seen.key, value, seen)) return value
        }
      }),
    remove: entry => inTurn(entry, () => db.delete('sealed', entry)),
    // Alone: a value that is being sealed is stored before, and removed with the others.
    clear: (entry, unless) =>
      alone(async () => {
        for (;;) {
          const seen = await look(db, entry)
          if (unless(seen.value) || (await clearBut(db, entry, seen))) return
        }
      }),
    journal: () => journalIn(db),
    erase: () =>
      alone(async () => {
        const all = db.transaction(['keys', 'sealed', 'drafts'], 'readwrite')
        await Promise.all([all.objectStore('keys').clear(), all.objectStore('sealed').clear(), all.objectStore('drafts').clear(), all.done])
      })
  }
}

interface Turns {
  /** After what was asked before for the same entry. */
  inTurn<Result>(entry: string, run: () => Promise<Result>): Promise<Result>
  /** After all that was asked before, and before all that is asked later. */
  alone<Result>(run: () => Promise<Result>): Promise<Result>
}

// Sealing is asynchronous: without a queue, the last write might not be the last to finish.
function takeTurns(): Turns {
  const last = new Map<string, Promise<unknown>>()
  let lastAlone: Promise<unknown> = Promise.resolve()
  return {
    inTurn(entry, run) {
      const done = (last.get(entry) ?? lastAlone).then(run)
      const settled: Promise<unknown> = done
        .catch(() => {})
        .then(() => {
          if (last.get(entry) === settled) last.delete(entry)
        })
      last.set(entry, settled)
      return done
    },
    alone(run) {
      const done = Promise.all([lastAlone, ...last.values()]).then(run)
      lastAlone = done.catch(() => {})
      last.clear()
      return done
    }
  }
}

interface Sealed {
  iv: Uint8Array<ArrayBuffer>
  data: ArrayBuffer
}

interface Schema extends DBSchema {
  keys: { key: string; value: CryptoKey }
  sealed: { key: string; value: Sealed }
  drafts: { key: number; value: Draft; indexes: { byId: [string, string] } }
}

/** An entry as read; every write gives it a new `iv`. */
interface Seen {
  key: DeviceKey
  iv: Uint8Array | undefined
  value: unknown
}

/** The key of this device, under a name that is never reused: once another tab has erased it, nothing more is sealed with it. */
interface DeviceKey {
  name: string
  key: CryptoKey
}

async function look(db: IDBPDatabase<Schema>, entry: string): Promise<Seen> {
  const key = await deviceKey(db)
  const sealed = await db.get('sealed', entry)
  return { key, iv: sealed?.iv, value: sealed && (await openSealed(key.key, sealed, entry)) }
}

/** False if the key is gone, or the entry has changed since it was read: nothing was written. */
async function put(db: IDBPDatabase<Schema>, entry: string, key: DeviceKey, value: unknown, seen?: Seen): Promise<boolean> {
  const sealed = await seal(key.key, value, entry)
  return withSpaceCheck(async () => {
    const writing = db.transaction(['keys', 'sealed'], 'readwrite')
    const isStill = (await writing.objectStore('keys').getKey(key.name)) !== undefined && (!seen || (await isAsSeen(writing, entry, seen)))
    if (isStill) await writing.objectStore('sealed').put(sealed, entry)
    await writing.done
    return isStill
  })
}

async function clearBut(db: IDBPDatabase<Schema>, entry: string, seen: Seen): Promise<boolean> {
  const clearing = db.transaction(['sealed', 'drafts'], 'readwrite')
  const isStill = await isAsSeen(clearing, entry, seen)
  if (isStill) {
    const sealed = clearing.objectStore('sealed')
    await sealed.delete(IDBKeyRange.upperBound(entry, true))
    await sealed.delete(IDBKeyRange.lowerBound(entry, true))
    await clearing.objectStore('drafts').clear()
  }
  await clearing.done
  return isStill
}

async function isAsSeen<Stores extends ('keys' | 'sealed' | 'drafts')[]>(
  within: IDBPTransaction<Schema, Stores, 'readwrite'>,
  entry: string,
  { iv }: Seen
): Promise<boolean> {
  const sealed = await within.objectStore('sealed').get(entry)
  return String(sealed?.iv) === String(iv)
}

// Created outside the transaction, because a transaction ends while the browser generates a key; the first tab to store one wins.
async function deviceKey(db: IDBPDatabase<Schema>): Promise<DeviceKey> {
  const known = await firstKey(db.transaction('keys').store)
  if (known) return known
  const fresh = {
    name: crypto.randomUUID(),
    key: await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  }
  const { store } = db.transaction('keys', 'readwrite')
  const first = await firstKey(store)
  if (first) return first
  await withSpaceCheck(async () => store.put(fresh.key, fresh.name))
  return fresh
}

async function firstKey(store: Pick<IDBPObjectStore<Schema, ['keys'], 'keys', 'readonly' | 'readwrite'>, 'openCursor'>) {
  const row = await store.openCursor()
  return row ? { name: row.key, key: row.value } : undefined
}

// The name is authenticated, so that one entry cannot be passed off as another.
async function seal(key: CryptoKey, value: unknown, name: string): Promise<Sealed> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const text = new TextEncoder().encode(JSON.stringify(value ?? null))
  return { iv, data: await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(name) }, key, text) }
}

async function openSealed(key: CryptoKey, { iv, data }: Sealed, name: string): Promise<unknown> {
  try {
    const text = await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(name) }, key, data)
    return JSON.parse(new TextDecoder().decode(text))
  } catch {
    return undefined
  }
}

function journalIn(db: IDBPDatabase<Schema>): Journal {
  let isClosed = false
  let underWay: Promise<unknown> = Promise.resolve()
  const use = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isClosed) return Promise.reject(new Error('the journal is closed'))
    const working = work()
    underWay = working.catch(() => {})
    return working
  }
  return {
    load: () => use(() => db.getAll('drafts')),
    append: drafts =>
      use(() =>
        withSpaceCheck(async () => {
          const writing = db.transaction('drafts', 'readwrite', { durability: 'strict' })
          await Promise.all([...drafts.map(draft => writing.store.add({ ...draft })), writing.done])
        })
      ),
    remove: drafts =>
      use(async () => {
        const writing = db.transaction('drafts', 'readwrite')
        const byId = writing.store.index('byId')
        for (const { session, localId } of drafts) {
          const key = await byId.getKey([session, localId])
          if (key !== undefined) await writing.store.delete(key)
        }
        await writing.done
      }),
    async close() {
      isClosed = true
      await underWay
    }
  }
}
