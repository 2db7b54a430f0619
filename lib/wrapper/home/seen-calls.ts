import { dirname } from 'node:path'
import { appendPrivateFile, makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'

/** Of a session or machine; a call that is older than this many others could be replayed. */
const mostKept = 20_000

/**
 * Remembers in a file which calls were made, by their nonces, so that one that is replayed is refused, also by a later process [R7].
 * The file holds a line for each, the latest last.
 */
export function openSeenCalls(path: string, most = mostKept): { isFresh(nonce: string): boolean } {
  // A torn line is that of a call nobody carried out.
  const lines = (readPrivateFile(path) ?? '').split('\n').filter(line => line !== '')
  const seen = new Set(lines.slice(-most))
  let written = lines.length
  /** Written whole before the next one, so that what follows a torn line is a line of its own. */
  let isTorn = true

  const write = (nonce: string) => {
    if (isTorn || written >= 2 * most) {
      makePrivateFolder(dirname(path))
      writePrivateFile(path, [...seen, nonce, ''].join('\n'))
      isTorn = false
      written = seen.size + 1
      return
    }
    isTorn = true
    appendPrivateFile(path, `${nonce}\n`)
    isTorn = false
    written += 1
  }

  return {
    /** False for one that was seen before. A new one is on disk when this returns; throws when it cannot be written. */
    isFresh(nonce) {
      if (seen.has(nonce)) return false
      write(nonce)
      seen.add(nonce)
      const [oldest] = seen
      if (seen.size > most && oldest !== undefined) seen.delete(oldest)
      return true
    }
  }
}
