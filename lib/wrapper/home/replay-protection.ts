// Replay protection across processes: received messages, our own numbers, and executed calls.

import { closeSync, fdatasync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { type Clock, systemClock } from '../../async/clock.ts'
import { createLatestCalls } from '../../client/calls/latest-calls.ts'
import { createOrder } from '../../client/sealed/message-order.ts'
import { type Numbers, newId } from '../../client/sealed/messages.ts'
import { nonceOf } from '../../client/sealed/nonces.ts'
import { createGone } from '../../client/sealed/numbers.ts'
import { type SealedBy, type SealFault, sealedBy } from '../../protocol/sealed/sealed-for.ts'
import * as v from '../../schema.ts'
import { appendPrivateFile, makePrivateFolder, openNotesFile, readPrivateFile, writePrivateFile } from './private-files.ts'

/**
 * Messages from people's devices to a session, received by any of its processes: none is accepted twice.
 * Written to disk as soon as possible.
 */
export interface HeardMessages {
  /** True if it may be executed. Problems with it, or with earlier ones, are reported. */
  take(message: HeardMessage): boolean
  close(): void
}

interface HeardMessage {
  readonly seq: number
  /** As received, sealed. */
  readonly content: string
  readonly by: SealedBy | undefined
}

export interface HeardOptions {
  path: string
  /** The server's id of the session. */
  session: string
  /** It reads the session from its beginning. */
  isWhole: boolean
  /** A message without a name is rejected: all senders here have one. */
  refusesNameless(): boolean
  /** An app of ours has written. */
  onNamed(): void
  onFault(type: SealFault['type'], count?: number): void
  clock?: Clock
}

/** Later ones may be in flight, or the withdrawal. */
const graceMs = 30_000
const mostMessages = 20_000

const line = v.object({ session: v.string(), seq: v.number(), nonce: v.string(), by: v.optional(sealedBy) })
type Line = v.InferOutput<typeof line>

export function openHeardMessages(options: HeardOptions): HeardMessages {
  const { path, session, onFault, clock = systemClock } = options
  let lines = readLines(path).slice(-mostMessages)
  const order = createOrder(options.isWhole)
  for (const { by } of lines) if (by) order.take(by)
  // Under another id the server numbers the messages again.
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
      // Read again, as after a restart.
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
      return v.safeParse(line, JSON.parse(text)).data ?? []
    } catch {
      // A torn line belongs to a message that was not executed.
      return []
    }
  })
}

/** A message repeated after a crash is a recent one. */
const mostNumbers = 5_000

/** The numbers of a session's own messages, across its processes. */
export interface OwnNumbers extends Numbers {
  /**
   * Resolves when no number assigned so far can be assigned again, whatever happens to this computer:
   * before a message is sent.
   */
  settled(): Promise<void>
  /**
   * A message that the server has: unknown numbers of ours belong to a later state than this folder's, as
   * after a restore.
   */
  noteStored(of: { sender: string; number: number }): void
  isOwn(sender: string): boolean
  close(): void
}

/**
 * In a file whose first line names the sender; each other line is a number and its local id, the latest
 * last. A message repeated under a local id, even by a later process, is the same message and has the same
 * number.
 */
export function openNumbersFile(path: string, most = mostNumbers): OwnNumbers {
  const [first = '', ...rest] = (readPrivateFile(path) ?? '').split('\n')
  // A torn line belongs to a message that was not sent.
  const lines = rest.slice(0, -1).flatMap(line => /^(\d+) (\S+)$/.exec(line)?.slice(1, 3).join(' ') ?? [])
  let sender = /^[a-z0-9]{24}$/.test(first) ? first : newId()
  const own = new Set([sender])
  const numbers = new Map(lines.slice(-most).map(line => [line.slice(line.indexOf(' ') + 1), Number.parseInt(line, 10)]))
  let last = Math.max(0, ...numbers.values())
  const gone = createGone()
  let file: number | undefined
  let written = 0
  /** It may end in the beginning of a line, which must not precede the next. */
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

/** Per session or machine; a call older than this many others could be replayed. */
const mostCalls = 20_000

/** False if it must not be executed. True is on disk when returned; throws if it cannot be written. */
export interface SeenCalls {
  /** False for a known nonce. */
  isFresh(nonce: string): boolean
  /** False if the same caller has chosen again since. */
  isLatest(choice: string, number: number): boolean
}

/**
 * Records executed calls in a file, by their nonces, so that a replayed one is rejected, even by a later
 * process [R7], and the last choices [R9]. The file has one line for each, the latest last.
 */
export function openSeenCalls(path: string, most = mostCalls): SeenCalls {
  // A torn line belongs to a call that was not executed.
  const lines = (readPrivateFile(path) ?? '').split('\n').filter(line => line !== '')
  const seen = new Set(lines.filter(line => !choiceLine.test(line)).slice(-most))
  const latest = createLatestCalls(lines.flatMap(choiceOf))
  let written = lines.length
  /** Completed before the next one, so that an entry after a torn line is on its own line. */
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
