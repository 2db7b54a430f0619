import { dirname } from 'node:path'
import { createLatest } from '../../client/calls/latest.ts'
import { appendPrivateFile, makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'

/** Of a session or machine; a call that is older than this many others could be replayed. */
const mostKept = 20_000

/** False for what is not to be carried out. True is on disk when it is returned; throws when it cannot be written. */
export interface SeenCalls {
  /** False for a nonce that was seen before. */
  isFresh(nonce: string): boolean
  /** False when the same caller chose otherwise since. */
  isLatest(choice: string, number: number): boolean
}

/**
 * Remembers in a file which calls were made, by their nonces, so that one that is replayed is refused, also by a later process [R7], and
 * what was chosen last [R9]. The file holds a line for each, the latest last.
 */
export function openSeenCalls(path: string, most = mostKept): SeenCalls {
  // A torn line is that of a call nobody carried out.
  const lines = (readPrivateFile(path) ?? '').split('\n').filter(line => line !== '')
  const seen = new Set(lines.filter(line => !choiceLine.test(line)).slice(-most))
  const latest = createLatest(lines.flatMap(choiceOf))
  let written = lines.length
  /** Written whole before the next one, so that what follows a torn line is a line of its own. */
  let isTorn = true

  const write = (line: string) => {
    if (isTorn || written >= 2 * most) {
      makePrivateFolder(dirname(path))
      const choices = Array.from(latest.entries, ([choice, number]) => `${number} ${choice}`)
      const kept = [...choices, ...seen, line]
      writePrivateFile(path, [...kept, ''].join('\n'))
      isTorn = false
      written = kept.length
      return
    }
    isTorn = true
    appendPrivateFile(path, `${line}\n`)
    isTorn = false
    written += 1
  }

  return {
    isFresh(nonce) {
      if (seen.has(nonce)) return false
      write(nonce)
      seen.add(nonce)
      const [oldest] = seen
      if (seen.size > most && oldest !== undefined) seen.delete(oldest)
      return true
    },
    isLatest(choice, number) {
      const line = choice.replaceAll('\n', ' ')
      if (!latest.take(line, number)) return false
      write(`${number} ${line}`)
      return true
    }
  }
}

// A nonce has no space.
const choiceLine = /^(\d+) (.+)$/

function choiceOf(line: string): [choice: string, number: number][] {
  const [, number, choice] = choiceLine.exec(line) ?? []
  return choice === undefined ? [] : [[choice, Number(number)]]
}
