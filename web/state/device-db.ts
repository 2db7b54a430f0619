import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import { keeping } from './room.ts'

/**
 * What this device keeps. Every value is sealed under an AES-GCM key that the browser holds and does not give out: a copy of the
 * browser's files alone does not open it. It does not stop somebody who can run code in this page, or who unlocks this device.
 */
export interface DeviceDb {
  /** Undefined when nothing was kept under this name, or what was kept cannot be opened any more. */
  read(name: string): Promise<unknown>
  /** `value` is anything JSON can say. */
  write(name: string, value: unknown): Promise<void>
  remove(name: string): Promise<void>
  /** Messages on their way to the server; they come sealed already. */
  drafts: DraftStore
  /** Everything, the key included. */
  erase(): Promise<void>
}

export interface KeptDraft {
  session: string
  localId: string
  content: string
  createdAt: number
}

export interface DraftStore {
  all(): Promise<KeptDraft[]>
  add(drafts: readonly KeptDraft[]): Promise<void>
  remove(drafts: readonly Pick<KeptDraft, 'session' | 'localId'>[]): Promise<void>
}

let opened: Promise<DeviceDb> | undefined

/** The one database of this origin. Rejects when the browser keeps nothing (some private windows). */
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
    // A tab with a newer app waits for this one to let go.
    blocking: (_current, _blocked, event) => (event.target as IDBDatabase | null)?.close()
  })
  let key = await deviceKey(db)
  const inTurn = takeTurns()
  return {
    read: entry =>
      inTurn(entry, async () => {
        const sealed = await db.get('sealed', entry)
        return sealed && openSealed(key, sealed, entry)
      }),
    write: (entry, value) =>
      inTurn(entry, async () => {
        const sealed = await seal(key, value, entry)
        await keeping(() => db.put('sealed', sealed, entry))
      }),
    remove: entry => inTurn(entry, () => db.delete('sealed', entry)),
    drafts: draftStore(db),
    async erase() {
      const all = db.transaction(['keys', 'sealed', 'drafts'], 'readwrite')
      await Promise.all([all.objectStore('keys').clear(), all.objectStore('sealed').clear(), all.objectStore('drafts').clear(), all.done])
      key = await deviceKey(db)
    }
  }
}

// Sealing takes its time: what was asked for last would not always be done last.
function takeTurns(): <Result>(entry: string, run: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>()
  return (entry, run) => {
    const done = (last.get(entry) ?? Promise.resolve()).then(run)
    const settled: Promise<unknown> = done
      .catch(() => {})
      .then(() => {
        if (last.get(entry) === settled) last.delete(entry)
      })
    last.set(entry, settled)
    return done
  }
}

interface Sealed {
  iv: Uint8Array<ArrayBuffer>
  data: ArrayBuffer
}

interface Schema extends DBSchema {
  keys: { key: string; value: CryptoKey }
  sealed: { key: string; value: Sealed }
  drafts: { key: number; value: KeptDraft; indexes: { byId: [string, string] } }
}

// Made outside the transaction, because a transaction ends while the browser makes a key; the first tab to store one wins.
async function deviceKey(db: IDBPDatabase<Schema>): Promise<CryptoKey> {
  const known = await db.get('keys', 'device')
  if (known) return known
  const fresh = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  const store = db.transaction('keys', 'readwrite').store
  const first = await store.get('device')
  if (first) return first
  await store.put(fresh, 'device')
  return fresh
}

// The name is bound in, so that one entry cannot be passed off as another.
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

function draftStore(db: IDBPDatabase<Schema>): DraftStore {
  return {
    all: () => db.getAll('drafts'),
    async add(drafts) {
      await keeping(async () => {
        const writing = db.transaction('drafts', 'readwrite', { durability: 'strict' })
        await Promise.all([...drafts.map(draft => writing.store.add({ ...draft })), writing.done])
      })
    },
    async remove(drafts) {
      const writing = db.transaction('drafts', 'readwrite')
      const byId = writing.store.index('byId')
      for (const { session, localId } of drafts) {
        const key = await byId.getKey([session, localId])
        if (key !== undefined) await writing.store.delete(key)
      }
      await writing.done
    }
  }
}
