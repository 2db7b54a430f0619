import { systemClock } from '../../async/clock.ts'
import { type Forgery, type SessionHandlers, serveSession } from '../../client/calls/calls.ts'
import type { Feed } from '../../client/feed/feed.ts'
import { watchSession } from '../../client/feed/session-watch.ts'
import type { Refused } from '../../client/link/refusals.ts'
import type { Rest, TokenSource } from '../../client/link/rest.ts'
import { type LiveSocket, openSocket } from '../../client/link/socket.ts'
import type { Pin } from '../../client/sealed/call-seals.ts'
import { type OpenedMessage, sealPartial } from '../../client/sealed/messages.ts'
import type { Cipher } from '../../crypto/envelopes.ts'
import type { PartialFrame } from '../../protocol/sealed/messages.ts'
import type { SealFault } from '../../protocol/sealed/sealed-for.ts'
import type { MessageRecord, SessionRecord } from '../../protocol/wire/records.ts'
import type { OwnNumbers } from '../home/numbers-file.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import type { UplinkCells } from './cells.ts'
import { openUplinkFeed } from './feed.ts'
import { createReceipts } from './receipts.ts'
import { startSignsOfLife } from './signs-of-life.ts'

export interface UplinkLineOptions {
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
  /** See `UplinkFeedOptions`. */
  isOwn(message: MessageRecord): boolean
  onOwn?: ((about: { seq: number }) => void) | undefined
  numbers: OwnNumbers
  /** What a message, or those before it, cannot have been sent so. */
  onFault?: ((type: SealFault['type'], count?: number) => void) | undefined
  /** See `UplinkFeedOptions`. */
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
export interface UplinkLine {
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

export function openUplinkLine(record: SessionRecord, options: UplinkLineOptions): UplinkLine {
  const { server, token, rest, cipher, folder, handlers, onMessage, onGone, onRefused } = options
  const session = record.id
  const end = new AbortController()
  const socket = openSocket({ server, token, scope: { as: 'session', id: session } })
  const cells = options.cells.openOn(record, socket)
  const receipts = handlers && createReceipts(rest, session, end.signal)

  const signs =
    handlers &&
    startSignsOfLife({
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
    signs?.tell()
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
    openUplinkFeed(folder.notes.cursor, {
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
    tellAlive: () => signs?.tell(),
    tellRead: seq => receipts?.read(seq),
    tellEnd() {
      clearInterval(beat)
      signs?.close()
      socket.send('session-end', { sid: session, time: Date.now() })
    },
    reconnect: () => socket.reconnectNow(),
    close() {
      clearInterval(beat)
      signs?.close()
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
