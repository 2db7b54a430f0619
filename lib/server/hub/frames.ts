import type { BusEvent, Signal } from '../../bus/bus.ts'
import type { Ephemeral } from '../../protocol/wire/ephemerals.ts'
import type { AccountId, DeviceId } from '../../protocol/wire/ids.ts'
import type { UpdateBody } from '../../protocol/wire/updates.ts'
import type { CellRef, RemovableRef } from '../../store/rows.ts'
import { artifactRecordOf, filled, machineRecordOf, messageRecordOf, sessionRecordOf } from '../records.ts'

type ChangeEvent = Extract<BusEvent, { type: 'change' }>

/** The largest amount written to a connection at a time; larger frames are sent in pieces of this size. */
export const pieceBytes = 64 * 1024

/** A frame too large for one piece: encoded once, and shared by all recipients unless it is for one alone. */
export class LargeFrame {
  /** In bytes. */
  readonly length: number
  /** How many connections it waits for; maintained by the backlog. */
  waitingFor = 0
  #held: string | Buffer<ArrayBuffer>
  readonly #isForOne: boolean

  constructor(content: string | Buffer<ArrayBuffer>, { isForOne = false }: { isForOne?: boolean } = {}) {
    this.#held = content
    this.#isForOne = isForOne
    this.length = Buffer.byteLength(content)
  }

  /** Encoded when the first connection sends it, so that text and bytes are never both in memory. */
  get bytes(): Buffer {
    if (typeof this.#held === 'string') this.#held = Buffer.from(this.#held)
    return this.#held
  }

  /**
   * A connection has sent it all. Memory that no other needs is freed at once: a few large calls waiting for the garbage
   * collector would use much more than is unread.
   */
  sent(): void {
    if (this.#isForOne && typeof this.#held !== 'string') this.#held.buffer.transfer(0)
  }
}

export type Frame = string | LargeFrame

/** The text as a frame that is in memory once, however many connections it is sent to. */
export function largeFrom(text: string, to: { isForOne?: boolean } = {}): Frame {
  return text.length > pieceBytes ? new LargeFrame(text, to) : text
}

/**
 * A packet for one connection, with its arguments as JSON. If the last argument ends in a long text that needs no escapes, as calls and their
 * answers do, the text is copied as it is: escaping 20 MiB takes as long as everything else about a call.
 */
export function packetFrame(start: string, args: readonly unknown[]): Frame {
  const body = args.at(-1)
  const key = isObject(body) ? Object.keys(body).at(-1) : undefined
  const text = isObject(body) && key !== undefined ? body[key] : undefined
  if (!isObject(body) || key === undefined || typeof text !== 'string' || text.length <= pieceBytes || needsEscapes.test(text))
    return largeFrom(start + JSON.stringify(args), { isForOne: true })
  const around = start + JSON.stringify([...args.slice(0, -1), { ...body, [key]: '' }])
  const before = Buffer.from(around.slice(0, -afterText.length))
  const bytes = Buffer.allocUnsafe(before.length + text.length + afterText.length)
  bytes.set(before)
  bytes.write(text, before.length, 'latin1')
  bytes.write(afterText, before.length + text.length)
  return new LargeFrame(bytes, { isForOne: true })
}

const afterText = '"}]'
/** In JSON; what is not ASCII has another length in UTF-8, so it counts too. */
const needsEscapes = /[^ !#-[\]-~]/

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A Socket.IO event as text, encoded once for all recipients. */
export function eventFrame(name: string, body: unknown): string {
  return `42${JSON.stringify([name, body])}`
}

/** One update of a change, and which connections get it. */
interface UpdateFrame {
  frame: Frame
  appsOnly: boolean
  /** Existing clients do not know it: sent only to connections that read Afield's own events. */
  isAfieldOnly: boolean
}

/** The updates of a change, in order; the last one has the clock of the change. */
export function updateFrames({ change, clock, at }: ChangeEvent, account: AccountId, nextId: () => string): UpdateFrame[] {
  const bodies = updateBodies(change, account)
  return bodies.map(({ body, appsOnly }, index) => {
    const seq = clock - bodies.length + 1 + index
    return {
      frame: largeFrom(eventFrame('update', { id: nextId(), seq, body, createdAt: at })),
      appsOnly,
      isAfieldOnly: body.t === 'session-receipts'
    }
  })
}

export function signalFrame(signal: Signal): Frame {
  return largeFrom(eventFrame('ephemeral', ephemeralOf(signal)))
}

/** As in `UpdateFrame`, for a signal. */
export function isAfieldOnly(signal: Signal): boolean {
  switch (signal.type) {
    case 'partial':
    case 'notice':
    case 'device-came':
    case 'pairing-fetched-twice':
      return true
    case 'session-event':
      return signal.kind === 'error'
    case 'usage':
    case 'presence':
      return false
  }
}

interface Body {
  body: UpdateBody
  appsOnly: boolean
}

function updateBodies(change: ChangeEvent['change'], account: AccountId): Body[] {
  switch (change.type) {
    case 'messages-added':
      return change.messages.map(message => ({
        body: { t: 'new-message', sid: change.session, message: messageRecordOf(change.session, message) },
        appsOnly: false
      }))
    case 'receipts-marked': {
      const { session: sid, deliveredSeq, readSeq } = change
      return [{ body: { t: 'session-receipts', sid, deliveredSeq, readSeq }, appsOnly: false }]
    }
    case 'session-opened':
      return [{ body: { t: 'new-session', ...sessionRecordOf(change.session) }, appsOnly: true }]
    case 'machine-opened': {
      const { id: machineId, ...record } = machineRecordOf(change.machine)
      const metadata = { value: record.metadata, version: record.metadataVersion }
      return [
        { body: { t: 'new-machine', machineId, seq: 0, ...record }, appsOnly: true },
        { body: { t: 'update-machine', machineId, metadata }, appsOnly: false }
      ]
    }
    case 'row-removed':
      return [{ body: removalBody(change.row, change.by), appsOnly: true }]
    case 'artifact-opened': {
      const { id: artifactId, ...record } = artifactRecordOf(change.artifact)
      return [{ body: { t: 'new-artifact', artifactId, ...record }, appsOnly: true }]
    }
    case 'artifact-written': {
      const { type, id: artifactId, ...cells } = change
      return [{ body: { t: 'update-artifact', artifactId, ...cells }, appsOnly: true }]
    }
    case 'kv-written':
      return [{ body: { t: 'kv-batch-update', changes: change.changes }, appsOnly: true }]
    case 'cell-written':
      return [{ body: cellBody(change.cell, change.now, account), appsOnly: false }]
  }
}

function removalBody(row: RemovableRef, by?: DeviceId | null): UpdateBody {
  switch (row.of) {
    case 'session':
      return { t: 'delete-session', sid: row.id, ...(by && { by }) }
    case 'machine':
      return { t: 'delete-machine', machineId: row.id }
    case 'artifact':
      return { t: 'delete-artifact', artifactId: row.id }
  }
}

function cellBody(cell: CellRef, now: Extract<ChangeEvent['change'], { type: 'cell-written' }>['now'], account: AccountId): UpdateBody {
  const sealed = { value: filled(now), version: now.version }
  if (cell.of === 'account') return { t: 'update-account', id: account, settings: now }
  if (cell.of === 'session') {
    return { t: 'update-session', id: cell.id, ...(cell.name === 'metadata' ? { metadata: sealed } : { agentState: now }) }
  }
  return { t: 'update-machine', machineId: cell.id, ...(cell.name === 'metadata' ? { metadata: sealed } : { daemonState: now }) }
}

function ephemeralOf(signal: Signal): Ephemeral {
  if (signal.type === 'usage') {
    const { session, key, at, tokens, cost } = signal
    return { type: 'usage', id: session, key, timestamp: at, tokens, cost }
  }
  if (signal.type === 'session-event') {
    const { type, session, kind, title, body, at } = signal
    return { type, sessionId: session, kind, title, body, timestamp: at }
  }
  if (signal.type === 'notice') {
    const { type, session, notice, kind, at } = signal
    return { type, sessionId: session, noticeId: notice, kind, timestamp: at }
  }
  if (signal.type === 'device-came') {
    const { type, device: id, kind, name, at: timestamp } = signal
    return { type, id, kind, name, timestamp }
  }
  if (signal.type === 'pairing-fetched-twice') return { type: signal.type, timestamp: signal.at }
  if (signal.type === 'partial') return { type: 'partial', sid: signal.session, partial: signal.partial }
  const { row, active, at: activeAt, thinking } = signal
  return row.of === 'session'
    ? { type: 'activity', id: row.id, active, activeAt, thinking }
    : { type: 'machine-activity', id: row.id, active, activeAt }
}
