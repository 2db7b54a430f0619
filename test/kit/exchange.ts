import { syncBuiltinESMExports } from 'node:module'
import type { Test } from 'tap'

/** Replaces a function of a module of Node.js, or of another object, until the returned function is called or the test ends. */
export function exchange(t: Pick<Test, 'teardown'>, owner: object, name: string, replacement: unknown): () => void {
  const own = Reflect.get(owner, name)
  const put = (value: unknown) => {
    Object.assign(owner, { [name]: value })
    syncBuiltinESMExports()
  }
  put(replacement)
  const end = () => put(own)
  t.teardown(end)
  return end
}
