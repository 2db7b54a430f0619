import type { Cipher } from '../crypto/envelopes.ts'
import type { Envelope, MessageBody, MessageMeta, PartialBody, SessionEvent, UserText } from '../protocol/sealed/messages.ts'
import type { MessageRecord } from '../protocol/wire/records.ts'
import type { Draft } from './journal.ts'

export type OpenedMessage =
  | { ok: true; body: MessageBody }
  /** Sealed with another key or damaged, or from a client that knows more than this one. */
  | { ok: false; reason: 'unreadable' | 'unknown-shape' }

/** Never throws. */
export declare function openMessage(cipher: Cipher, record: Pick<MessageRecord, 'content'>): OpenedMessage

/** Ready for `outbox.put`. `localId` is a new one unless told. */
export declare function sealDraft(cipher: Cipher, session: string, body: MessageBody, localId?: string): Draft

/** What a person writes. */
export declare function userText(text: string, meta?: MessageMeta): UserText
/** What a wrapper tells: one envelope, bare, as existing apps want it. */
export declare function sessionMessage(envelope: Envelope): MessageBody
export declare function newEnvelope(
  ev: SessionEvent,
  about: { role: 'user' | 'agent'; turn?: string; time?: number; subagent?: string; usage?: Envelope['usage'] }
): Envelope
/** "Your turn": what apps wait for at the end of each turn. */
export declare function readyEvent(): MessageBody

/** The envelope of a session message in either of its forms. */
export declare function envelopeOf(body: MessageBody): Envelope | undefined

export declare function sealPartial(cipher: Cipher, partial: PartialBody): string
export declare function openPartial(cipher: Cipher, sealed: string): PartialBody | undefined

/** 24 characters that existing apps take for a cuid2; for envelopes, turns, calls and localIds. */
export declare function newId(): string
