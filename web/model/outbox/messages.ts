import { type Draft, envelopeOf, giveUpDraft, newEnvelope, openMessage, sealDraft } from '../../../lib/client/index.ts'
import type { MessageBody, SessionEvent } from '../../../lib/protocol/sealed/messages.ts'
import { encryptedContent } from '../../../lib/protocol/wire/records.ts'
import * as v from '../../../lib/schema.ts'
import type { Live } from '../account/live.ts'

export type MessageLink = Pick<Live, 'outbox' | 'cipherOf'>

/** A person's message that has not been sent from this device. */
export interface UnsentMessage {
  readonly session: string
  readonly localId: string
  readonly text: string
}

/** One was edited or withdrawn; without a text it is gone. */
interface MessageChange {
  readonly session: string
  readonly localId: string
  readonly text: string | undefined
}

const listeners = new Set<(change: MessageChange) => void>()

export function onMessageChange(listener: (change: MessageChange) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function notifyChange(change: MessageChange): void {
  for (const listener of listeners) listener(change)
}

/** Neither it nor its edits are sent; parts that may have been sent are withdrawn by a message to the machine. */
export async function withdrawMessage(link: MessageLink, { session, localId }: Pick<UnsentMessage, 'session' | 'localId'>): Promise<void> {
  const drafts = link.outbox.pending.filter(draft => draft.session === session)
  for (const edit of drafts.filter(draft => metaOf(openedOf(link, draft)).replaces === localId)) {
    await takeBack(link, filesBefore(link, drafts, edit.localId))
    await takeBack(link, [edit])
  }
  const text = drafts.filter(draft => draft.localId === localId)
  // If one of its files may have been sent, the text is sent too, and withdrawn after it.
  const isHere = text.length > 0 && (await takeBack(link, [...filesBefore(link, drafts, localId), ...text]))
  notifyChange({ session, localId, text: undefined })
  // Otherwise the messages behind it would make it look lost.
  const isMissed = link.outbox.pending.some(draft => draft.session === session)
  const cipher = link.cipherOf(session)
  if ((!isHere || isMissed) && cipher) await link.outbox.put(sealDraft(cipher, session, toldByPerson({ t: 'withdraw', localId })))
}

/** One after the other, up to the first that may have been sent: then false. */
async function takeBack({ outbox, cipherOf }: MessageLink, drafts: readonly Draft[]): Promise<boolean> {
  for (const draft of drafts) {
    const how = await outbox.withdraw(draft)
    const cipher = cipherOf(draft.session)
    // It will never be sent: the next message tells receivers not to expect its number.
    if (cipher && how !== 'too-late') giveUpDraft(cipher, draft)
    if (how !== 'withdrawn') return false
  }
  return true
}

/** Messages of a device other than texts, in the envelope that existing wrappers expect. */
export function toldByPerson(event: SessionEvent): MessageBody {
  return { role: 'session', content: { type: 'session', data: newEnvelope(event, { role: 'user' }) }, meta: { sentFrom: 'web' } }
}

/** Its announced files, in order. */
function filesBefore(link: MessageLink, drafts: readonly Draft[], localId: string): Draft[] {
  const at = drafts.findIndex(draft => draft.localId === localId)
  const files: Draft[] = []
  for (const draft of drafts.slice(0, Math.max(0, at)).toReversed()) {
    const body = openedOf(link, draft)
    if (body === undefined || envelopeOf(body)?.ev.t !== 'file') break
    files.unshift(draft)
  }
  return files
}

/** The message that it edits, if any. */
export function metaOf(body: MessageBody | undefined): { replaces?: string | undefined } {
  return (body?.role === 'user' && body.meta) || {}
}

/** Undefined if it cannot be decrypted here. */
export function openedOf(
  { cipherOf }: Pick<MessageLink, 'cipherOf'>,
  { session, content }: Pick<Draft, 'session' | 'content'>
): MessageBody | undefined {
  const cipher = cipherOf(session)
  const opened = cipher && openMessage(cipher, { content: v.parse(encryptedContent, { t: 'encrypted', c: content }) })
  return opened?.ok === true ? opened.body : undefined
}
