import { type DeviceDb, deviceDb } from './device-db.ts'

/** A list of entries stored on this device under one name. All tabs of the device share it. */
interface StoredList<Entry extends { readonly key: string }> {
  read(): Promise<readonly Entry[]>
  /** Replaces the entry with the same key, or appends. */
  put(entry: Entry): Promise<void>
  drop(key: string): Promise<void>
  /** Resolves to the previous entries; no tab changes them meanwhile. */
  change(key: string, how: (entry: Entry | undefined) => Entry | undefined): Promise<Entry | undefined>
}

/** Rejects if the browser cannot store anything, or has no space. */
export function storedList<Entry extends { readonly key: string }>(
  name: string,
  db: () => Promise<Pick<DeviceDb, 'read' | 'write' | 'remove'>> = deviceDb
): StoredList<Entry> {
  let work: Promise<unknown> = Promise.resolve()
  const read = async (): Promise<readonly Entry[]> => {
    const kept = await (await db()).read(name)
    // Only this file writes the entry, and it is sealed.
    return Array.isArray(kept) ? kept : []
  }
  const inTurn = <Result>(run: () => Promise<Result>): Promise<Result> => {
    const done = work.then(() => alone(name, run))
    work = done.catch(() => {})
    return done
  }
  const change = (key: string, how: (entry: Entry | undefined) => Entry | undefined): Promise<Entry | undefined> =>
    inTurn(async () => {
      const entries = await read()
      const before = entries.find(each => each.key === key)
      const after = how(before)
      if (after === before) return before
      const changed = entries.flatMap(each => (each.key === key ? (after ?? []) : each))
      if (before === undefined && after !== undefined) changed.push(after)
      const kept = await db()
      await (changed.length === 0 ? kept.remove(name) : kept.write(name, changed))
      return before
    })
  return {
    read: () => inTurn(read),
    put: entry => change(entry.key, () => entry).then(() => {}),
    drop: key => change(key, () => undefined).then(() => {}),
    change
  }
}

/** Exclusive across tabs, if the browser supports locks. */
function alone<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  const { locks } = navigator
  return locks === undefined ? run() : locks.request(`kept ${name}`, run)
}
