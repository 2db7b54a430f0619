import type { Device } from '../../kit/browser.ts'

/** One item that the browser stores for the app: its place, and its whole content as text, byte by byte. */
export interface Kept {
  readonly at: string
  readonly text: string
}

/** Everything stored: databases, caches, both web storages, history and cookies. */
export async function storesOf({ page, context }: Device): Promise<Kept[]> {
  const kept = await page.evaluate(async () => {
    const found: { at: string; text: string }[] = []
    const latin1 = (bytes: Uint8Array) => Array.from(bytes, byte => String.fromCharCode(byte)).join('')
    // Strings and bytes alike, so that nothing is missed because of its encoding.
    const textOf = (value: unknown): string => {
      if (value instanceof CryptoKey) return `CryptoKey extractable: ${value.extractable} ${value.type}`
      if (value instanceof ArrayBuffer) return latin1(new Uint8Array(value))
      if (ArrayBuffer.isView(value)) return latin1(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
      if (typeof value !== 'object' || value === null) return String(value)
      return Object.entries(value)
        .map(([name, each]) => `${name} ${textOf(each)}`)
        .join('\n')
    }
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
    for (const { name = '' } of await indexedDB.databases()) {
      const db = await done(indexedDB.open(name))
      for (const store of db.objectStoreNames) {
        const all = db.transaction(store).objectStore(store)
        const [keys, values] = await Promise.all([done(all.getAllKeys()), done(all.getAll())])
        for (const [index, key] of keys.entries())
          found.push({ at: `indexedDB ${name} ${store} ${String(key)}`, text: textOf(values[index]) })
      }
      db.close()
    }
    for (const name of await caches.keys()) {
      const cache = await caches.open(name)
      for (const request of await cache.keys()) {
        const bytes = await (await cache.match(request))?.arrayBuffer()
        found.push({ at: `caches ${name} ${request.url}`, text: `${request.url} ${textOf(bytes)}` })
      }
    }
    for (const [at, storage] of Object.entries({ localStorage, sessionStorage })) {
      for (const [name, value] of Object.entries(storage)) found.push({ at: `${at} ${name}`, text: `${name} ${value}` })
    }
    found.push({ at: 'history', text: `${location.href} ${textOf(history.state)}` })
    return found
  })
  const cookies = (await context.cookies()).map(cookie => ({ at: `cookies ${cookie.name}`, text: JSON.stringify(cookie) }))
  return [...kept, ...cookies]
}
