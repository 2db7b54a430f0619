import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// By then the session is open, and what it took to open it is not needed any more.
const afterMs = 3_000

/** Gives back what starting took, once: most of it would stay for as long as nothing else happens, which may be all day. */
export function spareMemory(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc')
    const collect: unknown = runInNewContext('gc')
    setFlagsFromString('--no-expose-gc')
    if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' })
  }, afterMs).unref()
}
