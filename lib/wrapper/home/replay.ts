// Replay protection across processes: the messages that were heard, the numbers of our own, and the calls that were made.

import { closeSync, fdatasync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { type Clock, systemClock } from '../../async/clock.ts'
import { createLatest } from '../../client/calls/latest.ts'
import { type Numbers, newId } from '../../client/sealed/messages.ts'
import { nonceOf } from '../../client/sealed/nonces.ts'
import { createGone } from '../../client/sealed/numbers.ts'
import { createOrder } from '../../client/sealed/order.ts'
import { type SealedBy, type SealFault, sealedBy } from '../../protocol/sealed/sealed-for.ts'
import { appendPrivateFile, makePrivateFolder, openNotesFile, readPrivateFile, writePrivateFile } from './private-files.ts'

/**
 * What people's devices said to a session, by whichever process it was heard: nothing is taken for a second message. On disk as
 * soon as that takes something.
 */
export interface HeardMessages {
  /** True when it may be carried out. What is wrong with it, or with what came before it, is told. */
  take(message: HeardMessage): boolean
  close(): void
}

interface HeardMessage {
  readonly seq: number
  /** As it came, sealed. */
  readonly content: string
  readonly by: SealedBy | undefined
}

export interface HeardOptions {
  path: string
  /** The server's id of the session. */
  session: string
  /** It heard the session from its beginning. */
  isWhole: boolean
  /** A message without a name is not taken: all who speak here have one. */
  refusesNameless(): boolean
  /** An app of ours spoke. */
  onNamed(): void
  onFault(type: SealFault['type'], count?: number): void
  clock?: Clock
}

/** Later ones may be on their way, or the word that it was taken back. */
const graceMs = 30_000
const mostMessages = 20_000

const line = z.object({ session: z.string(), seq: z.number(), nonce: z.string(), by: sealedBy.optional() })
type Line = z.infer<typeof line>

export function openHeardMessages(options: HeardOptions): HeardMessages {
  const { path, session, onFault, clock = systemClock } = options
  let lines = readLines(path).slice(-mostMessages)
  const order = createOrder(options.isWhole)
  for (const { by } of lines) if (by) order.take(by)
  // Under another id the server numbers the messages anew.
  const placeOf = (heard: Pick<Line, 'session' | 'seq'>) => `${heard.session} ${heard.seq}`
  const places = new Map(lines.map(heard => [heard.nonce, placeOf(heard)]))
  const waits = new Set<() => void>()
  const file = openNotesFile(path)
  let isNew = true

  const writeWhole = () => {
    lines = lines.slice(-mostMessages)
    file.write(lines.map(each => `${JSON.stringify(each)}\n`).join(''))
    isNew = false
  }
  const keep = (heard: Line) => {
    makePrivateFolder(dirname(path))
    lines.push(heard)
    places.set(heard.nonce, placeOf(heard))
    if (isNew || file.isWaiting || lines.length >= 2 * mostMessages) return writeWhole()
    try {
      appendPrivateFile(path, `${JSON.stringify(heard)}\n`)
    } catch {
      // Its end may be torn.
      writeWhole()
    }
  }
  const lookAtPlace = (by: SealedBy) => {
    const place = order.take(by)
    if (place.type === 'late') onFault('message-late')
    if (place.type !== 'after-gap') return
    const stop = clock.after(graceMs, () => {
      waits.delete(stop)
      const missing = place.numbers.filter(number => order.isMissing({ sender: by.sender, number }))
      if (missing.length > 0) onFault('message-missing', missing.length)
    })
    waits.add(stop)
  }

  return {
    take({ seq, content, by }) {
      const nonce = nonceOf(content)
      const known = places.get(nonce)
      // Read once more, as after a restart.
      if (known === placeOf({ session, seq })) return true
      const fault = faultOf({ isKnown: known !== undefined, by })
      if (fault) {
        onFault(fault)
        return false
      }
      if (by) {
        options.onNamed()
        lookAtPlace(by)
      }
      keep({ session, seq, nonce, ...(by && { by }) })
      return true
    },
    close() {
      for (const stop of waits) stop()
      waits.clear()
      file.close()
    }
  }

  function faultOf({ isKnown, by }: { isKnown: boolean; by: SealedBy | undefined }): SealFault['type'] | undefined {
    if (isKnown) return 'message-repeated'
    if (by === undefined) return options.refusesNameless() ? 'message-nameless' : undefined
    return by.session !== undefined && by.session !== session ? 'message-astray' : undefined
  }
}

function readLines(path: string): Line[] {
  return (readPrivateFile(path) ?? '').split('\n').flatMap(text => {
    try {
      return line.safeParse(JSON.parse(text)).data ?? []
    } catch {
      // A torn line is that of a message that was not carried out.
      return []
    }
  })
}

/** What is told once more after a crash was told lately. */
const mostNumbers = 5_000

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
export function openNumbersFile(path: string, most = mostNumbers): OwnNumbers {
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

/** Of a session or machine; a call that is older than this many others could be replayed. */
const mostCalls = 20_000

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
export function openSeenCalls(path: string, most = mostCalls): SeenCalls {
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
