import type { Cipher, Opened } from '../../crypto/envelopes.ts'
import {
  type Envelope,
  type MessageBody,
  type MessageMeta,
  messageBody,
  type PartialFrame,
  partialFrame,
  type SessionEvent,
  type UserText
} from '../../protocol/sealed/messages.ts'
import { type SealedBy, sealedBy } from '../../protocol/sealed/sealed-for.ts'
import type { MessageRecord } from '../../protocol/wire/records.ts'
import * as v from '../../schema.ts'

/** One sealed message to be sent to the server. */
export interface Draft {
  session: string
  /** Unique within its session forever, so that a repeat is recognized. */
  localId: string
  /** Sealed, standard base64. */
  content: string
  /** When it was added, in milliseconds since 1970. */
  createdAt: number
  /** It is expendable: the oldest of these are dropped first when too much is pending. */
  isPassing?: boolean | undefined
}

export type OpenedMessage =
  | { ok: true; body: MessageBody }
  /** Sealed with another key or damaged, or from a newer client. */
  | { ok: false; reason: 'unreadable' | 'unknown-shape'; by?: SealedBy }

/** Never throws. */
export function openMessage(cipher: Cipher, record: Pick<MessageRecord, 'content'>): OpenedMessage {
  return readOpened(cipher.open(record.content.c))
}

/** The same for many, without blocking the thread. */
export async function openMessageAside(cipher: Cipher, record: Pick<MessageRecord, 'content'>): Promise<OpenedMessage> {
  const { c } = record.content
  return readOpened(cipher.openAside ? await cipher.openAside(c) : cipher.open(c))
}

function readOpened(opened: Opened): OpenedMessage {
  if (!opened.ok) return { ok: false, reason: 'unreadable' }
  const body = v.safeParse(messageBody, opened.value)
  if (body.success) return { ok: true, body: body.data }
  // It still uses a number of its sender.
  const { data } = v.safeParse(numbered, opened.value)
  return { ok: false, reason: 'unknown-shape', ...(data && { by: data.meta.sealedBy }) }
}

const numbered = v.looseObject({ meta: v.looseObject({ sealedBy }) })

/**
 * Who wrote it, according to itself; undefined for messages from existing clients and earlier versions
 * of ours.
 */
export function writerOf(message: OpenedMessage): SealedBy | undefined {
  return message.ok ? message.body.meta?.sealedBy : message.by
}

/** The numbers under which one sender seals its messages in one session. */
export interface Numbers {
  /** For the message with this local id: a repeat keeps its number where that is remembered. */
  next(localId: string): SealedBy
  /** It will never be sent; the next message says so. */
  giveUp(by: SealedBy): void
}

/** With its sender, which is part of every sealed message. */
export interface SpeakingCipher extends Cipher {
  readonly numbers?: Numbers | undefined
}

/**
 * Ready for `outbox.put`. `localId` is new by default. A draft that already has a sender and a number
 * keeps them.
 */
export function sealDraft(cipher: SpeakingCipher, session: string, body: MessageBody, localId: string = newId()): Draft {
  const by = body.meta?.sealedBy ?? cipher.numbers?.next(localId)
  const said = by === undefined ? body : { ...body, meta: { ...body.meta, sealedBy: by } }
  return { session, localId, content: cipher.seal(said), createdAt: Date.now() }
}

/** It was not sent, and will not be. */
export function giveUpDraft(cipher: SpeakingCipher, { content }: Pick<Draft, 'content'>): void {
  const by = writerOf(readOpened(cipher.open(content)))
  if (by) cipher.numbers?.giveUp(by)
}

/** A message from a person. */
export function newUserText(text: string, meta?: MessageMeta): UserText {
  return { role: 'user', content: { type: 'text', text }, ...(meta ? { meta } : {}) }
}

/** A message from a wrapper: one envelope, bare, as existing apps expect it. */
export function newSessionMessage(envelope: Envelope): MessageBody {
  return { role: 'session', content: envelope, meta: { sentFrom: 'cli' } }
}

/** `time` is now by default; `turn` and `subagent` come from `newId`. */
export function newEnvelope(
  ev: SessionEvent,
  about: { role: 'user' | 'agent'; turn?: string; time?: number; subagent?: string; usage?: Envelope['usage'] }
): Envelope {
  return { id: newId(), time: Date.now(), ...about, ev }
}

/** "Your turn": apps wait for it at the end of each turn. */
export function readyEvent(): MessageBody {
  return { role: 'agent', content: { type: 'event', id: newId(), data: { type: 'ready' } } }
}

/** The envelope of a session message in either of its forms. */
export function envelopeOf(body: MessageBody): Envelope | undefined {
  if (body.role !== 'session') return undefined
  const { content } = body
  // Apps wrap the envelope, wrappers do not. Both were validated when the message was opened.
  return isWrapped(content) ? content.data : content
}

type SessionContent = Extract<MessageBody, { role: 'session' }>['content']
type Wrapped = Extract<SessionContent, { type: 'session' }>

function isWrapped(content: SessionContent): content is Wrapped {
  return content['type'] === 'session'
}

export function sealPartial(cipher: Cipher, frame: PartialFrame): string {
  return cipher.seal(frame)
}

/** For `createPartialReader`. */
export function openPartial(cipher: Cipher, sealed: string): PartialFrame | undefined {
  const opened = cipher.open(sealed)
  return opened.ok ? v.safeParse(partialFrame, opened.value).data : undefined
}

/**
 * 24 characters that existing apps accept as a cuid2; for envelopes, turns, calls and localIds. About
 * 123 random bits.
 */
export function newId(): string {
  let id = ''
  while (id.length < idLength) id += pickLetters(crypto.getRandomValues(new Uint8Array(2 * idLength)), id.length === 0)
  return id.slice(0, idLength)
}

const idLength = 24
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
const firstLetters = 26

function pickLetters(random: Uint8Array, isBeginning: boolean): string {
  let picked = ''
  for (const byte of random) {
    const many = isBeginning && picked === '' ? firstLetters : letters.length
    // Bytes above the last full multiple would favour the first letters.
    if (byte < 256 - (256 % many)) picked += letters.charAt(byte % many)
  }
  return picked
}
