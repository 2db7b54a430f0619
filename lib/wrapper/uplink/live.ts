import { WebSocket } from 'ws'
import { type Clock, systemClock } from '../../async/clock.ts'
import { type Forgery, type SessionHandlers, serveSession } from '../../client/calls/calls.ts'
import { type Feed, openFeed } from '../../client/feed/feed.ts'
import { watchSession } from '../../client/feed/session-watch.ts'
import { createPersistence } from '../../client/link/persist.ts'
import { Refused } from '../../client/link/refusals.ts'
import type { Rest, TokenSource } from '../../client/link/rest.ts'
import { type LiveSocket, openSocket } from '../../client/link/socket.ts'
import type { Pin } from '../../client/sealed/call-seals.ts'
import { envelopeOf, type OpenedMessage, openMessage, sealPartial, writerOf } from '../../client/sealed/messages.ts'
import type { Cipher } from '../../crypto/envelopes.ts'
import type { PartialFrame } from '../../protocol/sealed/messages.ts'
import type { SealFault } from '../../protocol/sealed/sealed-for.ts'
import type { MessageRecord, SessionRecord } from '../../protocol/wire/records.ts'
import type { HeardMessages, OwnNumbers } from '../home/replay.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import type { UplinkCells } from './cells.ts'

export interface LiveOptions {
  server: string
  token: string | TokenSource
  rest: Rest
  cipher: Cipher
  folder: SessionFolder
  cells: UplinkCells
  /** What the phone may call. Nothing is answered, and nobody is told that the session lives, when they are left out. */
  handlers?: SessionHandlers | undefined
  /** Every message of the session in order, from the cursor of the folder on. Not read when left out. */
  onMessage?: ((message: OpenedMessage, about: { seq: number; localId: string | null }) => void) | undefined
  /** See `SessionFeedOptions`. */
  isOwn(message: MessageRecord): boolean
  onOwn?: ((about: { seq: number }) => void) | undefined
  numbers: OwnNumbers
  /** What a message, or those before it, cannot have been sent so. */
  onFault?: ((type: SealFault['type'], count?: number) => void) | undefined
  /** See `SessionFeedOptions`. */
  onLeftOut?: ((about: { seq: number; localId: string | null }) => void) | undefined
  onState(state: LiveSocket['state']): void
  /** The session was deleted. */
  onGone(): void
  onRefused(refusal: Refused): void
  /** A call was refused that no client made so. */
  onForged?: ((forgery: Forgery) => void) | undefined
  /** What the agent does now, for devices. */
  alive(): { thinking: boolean; mode: 'local' | 'remote' }
  /** Every now and then, while it answers calls. */
  onBeat(): void
}

/** The live side of a session that the server knows: what is heard, answered and signalled while there is a link. */
export interface Live {
  readonly connectionId: LiveSocket['connectionId']
  take: Feed['take']
  caughtUp: Feed['caughtUp']
  showPartial(frame: PartialFrame): boolean
  tellAlive(): void
  tellRead(seq: number): void
  tellEnd(): void
  reconnect(): void
  close(): void
}

const beatMs = 2000

export function openLive(record: SessionRecord, options: LiveOptions): Live {
  const { server, token, rest, cipher, folder, handlers, onMessage, onGone, onRefused } = options
  const session = record.id
  const end = new AbortController()
  const socket = openSocket({ server, token, scope: { as: 'session', id: session }, WebSocket })
  const cells = options.cells.openOn(record, socket)
  const receipts = handlers && createReceipts(rest, session, end.signal)

  const heartbeat =
    handlers &&
    startHeartbeat({
      clock: systemClock,
      isWorking: () => options.alive().thinking,
      // One that is dropped because the line is busy would leave devices in the dark until the next.
      send: () => socket.send('session-alive', { sid: session, time: Date.now(), ...options.alive() })
    })
  socket.onUpdate(({ body }) => {
    if (body.t === 'delete-session' && body.sid === session) onGone()
    if (body.t !== 'update-session' || body.id !== session) return
    if (body.metadata) cells.metadata.take(body.metadata)
    if (body.agentState) cells.state.take(body.agentState)
  })
  socket.onState(() => {
    options.onState(socket.state)
    if (socket.state.type !== 'live') return
    receipts?.hurry()
    heartbeat?.tell()
  })
  const watch = watchSession({
    rest,
    socket,
    session,
    onRow: (row, { isBack }) => options.cells.takeRow(row, isBack),
    onRemoved: onGone,
    onRefused
  })
  const pin = pinOf(folder)
  const heard =
    onMessage &&
    folder.openHeardMessages({
      session,
      isWhole: folder.notes.isNamed === true,
      // In a session that began with an earlier version, what that one sealed without a name could be said again.
      refusesNameless: () => pin.isSet && folder.notes.isNamed !== true,
      onNamed: () => pin.set(),
      onFault: (...fault) => options.onFault?.(...fault)
    })
  const feed =
    heard &&
    openSessionFeed(folder.notes.cursor, {
      rest,
      socket,
      session,
      cipher,
      receipts,
      numbers: options.numbers,
      heard,
      isOwn: options.isOwn,
      onOwn: about => options.onOwn?.(about),
      onMessage,
      onLeftOut: about => options.onLeftOut?.(about),
      onRefused
    })
  let beat: NodeJS.Timeout | undefined
  if (handlers) {
    // Said over and over, and worth nothing to who says it again: it takes no room among the calls that are remembered.
    const { watch, ...others } = handlers
    const named = { socket, cipher, session, pin, onForged: options.onForged }
    serveSession({ ...named, handlers: others, ...folder.openSeenCalls() })
    if (watch) serveSession({ ...named, handlers: { watch } })
    beat = setInterval(() => options.onBeat(), beatMs)
  }

  return {
    get connectionId() {
      return socket.connectionId
    },
    take: messages => feed?.take(messages),
    caughtUp: async () => feed?.caughtUp(),
    showPartial: frame => socket.send('partial', { sid: session, partial: sealPartial(cipher, frame) }, { volatile: true }),
    tellAlive: () => heartbeat?.tell(),
    tellRead: seq => receipts?.read(seq),
    tellEnd() {
      clearInterval(beat)
      heartbeat?.close()
      socket.send('session-end', { sid: session, time: Date.now() })
    },
    reconnect: () => socket.reconnectNow(),
    close() {
      clearInterval(beat)
      heartbeat?.close()
      end.abort(new Error('the uplink was closed'))
      options.cells.close()
      watch.close()
      feed?.close()
      heard?.close()
      socket.close()
    }
  }
}

function pinOf(folder: SessionFolder): Pin {
  return {
    get isSet() {
      return folder.notes.hearsNames === true
    },
    set() {
      if (!folder.notes.hearsNames) folder.note({ hearsNames: true })
    }
  }
}

interface SessionFeedOptions {
  rest: Rest
  socket: LiveSocket
  session: string
  cipher: Cipher
  receipts: Receipts | undefined
  numbers: Pick<OwnNumbers, 'isOwn' | 'noteStored'>
  heard: HeardMessages
  /** What the agent said is not opened again by the process that sealed it: there is no news in it. */
  isOwn(message: MessageRecord): boolean
  onOwn(about: { seq: number }): void
  onMessage(message: OpenedMessage, about: { seq: number; localId: string | null }): void
  /** Somebody on the way brought it here: it is not carried out. */
  onLeftOut(about: { seq: number; localId: string | null }): void
  onRefused(refusal: Refused): void
}

/** Every message of a session in order. */
function openSessionFeed(after: number, options: SessionFeedOptions): Feed {
  const { rest, socket, session, cipher, receipts, numbers, heard, isOwn, onOwn, onMessage, onLeftOut, onRefused } = options
  return openFeed({
    rest,
    socket,
    session,
    after,
    onMessages: messages => {
      for (const message of messages) {
        if (isOwn(message)) {
          onOwn({ seq: message.seq })
          continue
        }
        const opened = openMessage(cipher, message)
        const by = writerOf(opened)
        if (by && numbers.isOwn(by.sender)) numbers.noteStored(by)
        else if (isOfPeople(opened) && !heard.take({ seq: message.seq, content: message.content.c, by })) {
          onLeftOut({ seq: message.seq, localId: message.localId })
          continue
        }
        if (opened.ok && opened.body.role === 'user') receipts?.delivered(message.seq)
        onMessage(opened, { seq: message.seq, localId: message.localId })
      }
    },
    onState: state => {
      if (state.type === 'ended') onRefused(state.refusal)
    }
  })
}

/** Of an unknown shape with a writer: it is of a newer app, and takes a number. */
function isOfPeople(message: OpenedMessage): boolean {
  if (!message.ok) return message.by !== undefined
  const { body } = message
  return body.role === 'user' ? body.meta?.sentFrom !== 'cli' : envelopeOf(body)?.role === 'user'
}

/** Tells how far the messages of a session came: to this computer, and to the agent. */
interface Receipts {
  delivered(seq: number): void
  read(seq: number): void
  /** There is a line again. */
  hurry(): void
}

/**
 * Best effort: what was not told when the process ends is told with the next message. While one request is under way the next
 * one waits, and says only the latest. A server that keeps no receipts is told nothing more.
 */
function createReceipts(rest: Pick<Rest, 'call'>, session: string, end: AbortSignal): Receipts {
  const persistence = createPersistence({ signal: end })
  let [deliveredSeq, readSeq] = [0, 0]
  let told = ''
  let isTelling = false

  async function tell(): Promise<void> {
    isTelling = true
    try {
      for (let now = stand(); now !== told; now = stand()) {
        const sent = await persistence.attempt(async signal => {
          const latest = stand()
          await rest.call('markReceipts', { params: { id: session }, body: { deliveredSeq, readSeq } }, { signal })
          return latest
        })
        told = sent
      }
      isTelling = false
    } catch (error) {
      // Then it stays as it is: this server will never take them, or the session is over.
      if (!(error instanceof Refused) && !end.aborted) throw error
    }
  }
  const stand = () => `${deliveredSeq} ${readSeq}`
  const news = () => void (isTelling || tell())

  return {
    delivered(seq) {
      deliveredSeq = Math.max(deliveredSeq, seq)
      news()
    },
    read(seq) {
      readSeq = Math.max(readSeq, seq)
      deliveredSeq = Math.max(deliveredSeq, seq)
      news()
    },
    hurry: () => persistence.hurry()
  }
}

/** Tells over and over that a session lives. Each sign goes to every device, so one that rests says it no oftener than a computer does. */
interface Heartbeat {
  /** It works, or rests, or another has the keyboard: told at once. */
  tell(): void
  close(): void
}

/** Who opens the app meanwhile hears from the next one that the agent works. */
const workingEveryMs = 5_000
/** Servers take a session for gone after ten minutes without one. */
const restingEveryMs = 20_000

export function startHeartbeat({ clock, isWorking, send }: { clock: Clock; isWorking(): boolean; send(): void }): Heartbeat {
  let cancel = () => {}
  let isClosed = false
  const next = () => {
    cancel()
    if (!isClosed) cancel = clock.after(isWorking() ? workingEveryMs : restingEveryMs, tell)
  }
  const tell = () => {
    if (isClosed) return
    send()
    next()
  }
  next()
  return {
    tell,
    close() {
      isClosed = true
      cancel()
    }
  }
}
