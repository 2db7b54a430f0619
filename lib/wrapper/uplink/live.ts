import { WebSocket } from 'ws'
import { type Clock, systemClock } from '../../async/clock.ts'
import { type Forgery, type SessionHandlers, serveSession } from '../../client/calls/calls.ts'
import { type Feed, openFeed } from '../../client/feed/feed.ts'
import { watchSession } from '../../client/feed/session-watch.ts'
import { Refused } from '../../client/link/refusals.ts'
import type { Rest, TokenSource } from '../../client/link/rest.ts'
import { createRetrier } from '../../client/link/retry.ts'
import { type LiveSocket, openSocket } from '../../client/link/socket.ts'
import type { Pin } from '../../client/sealed/call-seals.ts'
import { envelopeOf, type OpenedMessage, openMessage, sealPartial, writerOf } from '../../client/sealed/messages.ts'
import type { Cipher } from '../../crypto/envelopes.ts'
import type { PartialFrame } from '../../protocol/sealed/messages.ts'
import type { SealFault } from '../../protocol/sealed/sealed-for.ts'
import type { MessageRecord, SessionRecord } from '../../protocol/wire/records.ts'
import type { HeardMessages, OwnNumbers } from '../home/replay-protection.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import type { UplinkCells } from './cells.ts'

export interface LiveOptions {
  server: string
  token: string | TokenSource
  rest: Rest
  cipher: Cipher
  folder: SessionFolder
  cells: UplinkCells
  /** The methods that the phone may call. If omitted, no calls are answered and no heartbeat is sent. */
  handlers?: SessionHandlers | undefined
  /** Receives every message of the session in order, from the cursor of the folder. If omitted, messages are not read. */
  onMessage?: ((message: OpenedMessage, about: { seq: number; localId: string | null }) => void) | undefined
  /** See `SessionFeedOptions`. */
  isOwn(message: MessageRecord): boolean
  onOwn?: ((about: { seq: number }) => void) | undefined
  numbers: OwnNumbers
  /** A message, or its predecessors, cannot have been sent like this. */
  onFault?: ((type: SealFault['type'], count?: number) => void) | undefined
  /** See `SessionFeedOptions`. */
  onForgedMessage?: ((about: { seq: number; localId: string | null }) => void) | undefined
  onState(state: LiveSocket['state']): void
  /** The session was deleted. */
  onGone(): void
  onRefused(refusal: Refused): void
  /** A call was rejected that no client can have made like this. */
  onForged?: ((forgery: Forgery) => void) | undefined
  /** The current activity of the agent, for devices. */
  alive(): { thinking: boolean; mode: 'local' | 'remote' }
  /** Called periodically while it answers calls. */
  onBeat(): void
}

/** The live side of a session that the server knows: messages received, calls answered and signals sent while connected. */
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
      // If one is dropped because the connection is busy, devices would not know the state until the next one.
      send: () => socket.send('session-alive', { sid: session, time: Date.now(), ...options.alive() })
    })
  socket.onUpdate(({ body }) => {
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
      // In a session started with an earlier version, unnamed content sealed by that version could be replayed.
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
      onForgedMessage: about => options.onForgedMessage?.(about),
      onRefused
    })
  let beat: NodeJS.Timeout | undefined
  if (handlers) {
    // Repeated often, and useless to an attacker who replays it, so it is not stored among the remembered calls.
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
  /** The agent's own messages are not decrypted again by the process that sealed them: they contain nothing new. */
  isOwn(message: MessageRecord): boolean
  onOwn(about: { seq: number }): void
  onMessage(message: OpenedMessage, about: { seq: number; localId: string | null }): void
  /** Injected by someone in between, so it is not carried out. */
  onForgedMessage(about: { seq: number; localId: string | null }): void
  onRefused(refusal: Refused): void
}

/** Every message of a session in order. */
function openSessionFeed(after: number, options: SessionFeedOptions): Feed {
  const { rest, socket, session, cipher, receipts, numbers, heard, isOwn, onOwn, onMessage, onForgedMessage, onRefused } = options
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
          onForgedMessage({ seq: message.seq, localId: message.localId })
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

/** Of an unknown shape but with a writer: it comes from a newer app, and uses up a number. */
function isOfPeople(message: OpenedMessage): boolean {
  if (!message.ok) return message.by !== undefined
  const { body } = message
  return body.role === 'user' ? body.meta?.sentFrom !== 'cli' : envelopeOf(body)?.role === 'user'
}

/** Reports how far the messages of a session came: to this computer, and to the agent. */
interface Receipts {
  delivered(seq: number): void
  read(seq: number): void
  /** The connection is back. */
  hurry(): void
}

/**
 * Best effort: a receipt unsent at the end of the process is sent with the next message. While one request is in progress,
 * only the latest is queued. Nothing more is sent to a server that does not store receipts.
 */
function createReceipts(rest: Pick<Rest, 'call'>, session: string, end: AbortSignal): Receipts {
  const retrier = createRetrier({ signal: end })
  let [deliveredSeq, readSeq] = [0, 0]
  let lastSent = ''
  let isTelling = false

  async function tell(): Promise<void> {
    isTelling = true
    try {
      for (let now = stand(); now !== lastSent; now = stand()) {
        const sent = await retrier.attempt(async signal => {
          const latest = stand()
          await rest.call('markReceipts', { params: { id: session }, body: { deliveredSeq, readSeq } }, { signal })
          return latest
        })
        lastSent = sent
      }
      isTelling = false
    } catch (error) {
      // Then stop: this server will never accept them, or the session is over.
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
    hurry: () => retrier.hurry()
  }
}

/** Sends heartbeats of a session. Each goes to every device, so an idle session sends them no more often than a computer does. */
interface Heartbeat {
  /** Working, idle or another driver: sent immediately. */
  tell(): void
  close(): void
}

/** An app opened meanwhile learns from the next one that the agent is working. */
const workingEveryMs = 5_000
/** Servers consider a session gone after ten minutes without one. */
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
