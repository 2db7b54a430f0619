import fs, { readdirSync, readlinkSync } from 'node:fs'
import promises from 'node:fs/promises'
import type { Test } from 'tap'
import { exchange } from './exchange.ts'

type Teardown = Pick<Test, 'teardown'>

/** Calls a function before each call of one of `node:fs`; what it throws is what the call throws. */
export function watchCalls<Name extends 'renameSync' | 'rmSync' | 'fsyncSync' | 'openSync'>(
  t: Teardown,
  name: Name,
  before: (...given: Parameters<(typeof fs)[Name]>) => void
): () => void {
  const own = fs[name] as (...given: unknown[]) => unknown
  return exchange(t, fs, name, (...given: Parameters<(typeof fs)[Name]>) => {
    before(...given)
    return own(...given)
  })
}

/**
 * Calls a function before a file is opened or renamed with `node:fs/promises`, and before it is written, synced or closed; what it
 * throws is what the call rejects with.
 */
export function watchFiles(t: Teardown, before: (what: string, path: string) => void): () => void {
  const { open, rename } = promises
  const ends = [
    exchange(t, promises, 'open', async (...given: Parameters<typeof open>) => {
      const path = String(given[0])
      before('open', path)
      const handle = await open(...given)
      return new Proxy(handle, {
        get(_, name) {
          const own = Reflect.get(handle, name)
          if (typeof own !== 'function') return own
          return (...args: unknown[]) => {
            if (['appendFile', 'write', 'sync', 'close'].includes(String(name))) before(String(name), path)
            return own.apply(handle, args)
          }
        }
      })
    }),
    exchange(t, promises, 'rename', async (...given: Parameters<typeof rename>) => {
      before('rename', String(given[0]))
      await rename(...given)
    })
  ]
  return () => {
    for (const end of ends) end()
  }
}

/** Lets so many renames happen; the `times` after these fail, or all, as none happen any more after the power has failed. */
export function failRenames(
  t: Teardown,
  after: number,
  times = Number.POSITIVE_INFINITY,
  code = 'EIO'
): { count: () => number; end: () => void } {
  let count = 0
  const end = watchCalls(t, 'renameSync', () => {
    count += 1
    if (count > after && count <= after + times) throw Object.assign(new Error(code), { code })
  })
  return { count: () => count, end }
}

/** The paths of what this process has open below a directory; on Linux only. */
export function openFilesIn(directory: string): string[] {
  const open = process.platform === 'linux' ? readdirSync('/proc/self/fd') : []
  const paths = open.map(name => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      return ''
    }
  })
  return paths.filter(path => path.startsWith(directory))
}
