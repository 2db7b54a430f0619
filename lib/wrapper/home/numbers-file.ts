import { closeSync, fdatasync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { type Numbers, newId } from '../../client/sealed/messages.ts'
import { createGone } from '../../client/sealed/numbers.ts'
import { makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'

/** What is told once more after a crash was told lately. */
const mostKept = 5_000

/** The numbers of a session's own messages, over all its processes. */
export interface OwnNumbers extends Numbers {
  /** Resolves when no number given out so far can be given out again, whatever happens to this computer: before a message leaves. */
  settled(): Promise<void>
  /** A message that the server has: numbers of ours that we do not know are of a later state than this folder, as after a backup was put back. */
  noteStored(of: { sender: string; number: number }): void
  isOwn(sender: string): boolean
  close(): void
}

/**
 * In a file whose first line names the sender; each other line is a number and the local id that has it, the latest last. What is said
 * under a local id for the second time, also by a later process, is the same message and has the same number.
 */
export function openNumbersFile(path: string, most = mostKept): OwnNumbers {
  const [first = '', ...rest] = (readPrivateFile(path) ?? '').split('\n')
  // A torn line is that of a message that did not leave.
  const lines = rest.slice(0, -1).flatMap(line => /^(\d+) (\S+)$/.exec(line)?.slice(1, 3).join(' ') ?? [])
  let sender = /^[a-z0-9]{24}$/.test(first) ? first : newId()
  const own = new Set([sender])
  const numbers = new Map(lines.slice(-most).map(line => [line.slice(line.indexOf(' ') + 1), Number.parseInt(line, 10)]))
  let last = Math.max(0, ...numbers.values())
  const gone = createGone()
  let file: number | undefined
  let written = 0
  /** It may end in the beginning of a line, which must not stand before what follows. */
  let isTorn = false
  let isDirty = false

  const startFile = () => {
    if (file !== undefined) closeSync(file)
    file = undefined
    makePrivateFolder(dirname(path))
    writePrivateFile(path, [sender, ...[...numbers].map(([localId, number]) => `${number} ${localId}`), ''].join('\n'))
    file = openSync(path, 'a', 0o600)
    written = numbers.size
    isTorn = false
  }
  const write = (number: number, localId: string) => {
    if (file === undefined || isTorn || written >= 2 * most) startFile()
    isTorn = true
    if (file !== undefined) writeFileSync(file, `${number} ${localId}\n`)
    isTorn = false
    written += 1
    isDirty = true
  }

  return {
    next(localId) {
      const known = numbers.get(localId)
      if (known !== undefined) return { sender, number: known, ...gone.take() }
      write(last + 1, localId)
      last += 1
      numbers.set(localId, last)
      const [oldest] = numbers.keys()
      if (numbers.size > most && oldest !== undefined) numbers.delete(oldest)
      return { sender, number: last, ...gone.take() }
    },
    giveUp: gone.add,
    isOwn: each => own.has(each),
    noteStored(of) {
      if (of.sender !== sender || of.number <= last) return
      sender = newId()
      own.add(sender)
      numbers.clear()
      last = 0
      startFile()
    },
    async settled() {
      if (!isDirty || file === undefined) return
      isDirty = false
      await sync(file)
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    }
  }
}

const sync = promisify(fdatasync)
