import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import type { Test } from 'tap'

/** Calls a function before each call of a file handle, and before each rename; what it throws is what the call rejects with. */
export function watchFiles(t: Test, before: (what: string, path: string) => void): () => void {
  const { open, rename } = promises
  exchange(promises, 'open', async (...given: Parameters<typeof open>) => {
    const path = String(given[0])
    before('open', path)
    const handle = await open(...given)
    return new Proxy(handle, {
      get(_, name) {
        const own = Reflect.get(handle, name)
        if (typeof own !== 'function') return own
        return (...args: unknown[]) => {
          if (['appendFile', 'sync', 'close'].includes(String(name))) before(String(name), path)
          return own.apply(handle, args)
        }
      }
    })
  })
  exchange(promises, 'rename', async (...given: Parameters<typeof rename>) => {
    before('rename', String(given[0]))
    await rename(...given)
  })
  const end = () => {
    exchange(promises, 'open', open)
    exchange(promises, 'rename', rename)
  }
  t.teardown(end)
  return end
}

function exchange(module: object, name: string, value: unknown): void {
  Object.assign(module, { [name]: value })
  syncBuiltinESMExports()
}
