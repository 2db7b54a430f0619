import { dirname } from 'node:path'
import * as z from 'zod'
import { type Clock, systemClock } from '../../async/clock.ts'
import { nonceOf } from '../../client/sealed/nonces.ts'
import { createOrder } from '../../client/sealed/order.ts'
import { type SealedBy, type SealFault, sealedBy } from '../../protocol/sealed/sealed-for.ts'
import { openNotesFile } from './notes-file.ts'
import { appendPrivateFile, makePrivateFolder, readPrivateFile } from './private-files.ts'

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
const mostKept = 20_000

const line = z.object({ session: z.string(), seq: z.number(), nonce: z.string(), by: sealedBy.optional() })
type Line = z.infer<typeof line>

export function openHeardMessages(options: HeardOptions): HeardMessages {
  const { path, session, onFault, clock = systemClock } = options
  let lines = readLines(path).slice(-mostKept)
  const order = createOrder(options.isWhole)
  for (const { by } of lines) if (by) order.take(by)
  // Under another id the server numbers the messages anew.
  const placeOf = (heard: Pick<Line, 'session' | 'seq'>) => `${heard.session} ${heard.seq}`
  const places = new Map(lines.map(heard => [heard.nonce, placeOf(heard)]))
  const waits = new Set<() => void>()
  const file = openNotesFile(path)
  let isNew = true

  const writeWhole = () => {
    lines = lines.slice(-mostKept)
    file.write(lines.map(each => `${JSON.stringify(each)}\n`).join(''))
    isNew = false
  }
  const keep = (heard: Line) => {
    makePrivateFolder(dirname(path))
    lines.push(heard)
    places.set(heard.nonce, placeOf(heard))
    if (isNew || file.isWaiting || lines.length >= 2 * mostKept) return writeWhole()
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
