import { type Draft, giveUpDraft, newUserText, sealDraft } from '../../../lib/client/index.ts'
import { home } from '../home.ts'
import { type MessageLink, metaOf, notifyChange, openedOf, type UnsentMessage } from './messages.ts'

/** In sending order. An edit is shown in place of its message; those that cannot be decrypted here are omitted. */
export function unsentMessages(link: MessageLink, drafts: readonly Draft[]): UnsentMessage[] {
  const messages = new Map<string, UnsentMessage>()
  for (const draft of drafts) {
    const body = openedOf(link, draft)
    if (body?.role !== 'user') continue
    const { session, localId } = draft
    const { replaces } = body.meta ?? {}
    const changed = replaces === undefined ? undefined : messages.get(replaces)
    messages.set(changed?.localId ?? localId, { session, localId: changed?.localId ?? localId, text: body.content.text })
  }
  return [...messages.values()]
}

/**
 * Replaces the text, at the same place and with its own id. The server may have stored that id without confirming it:
 * then the new text is ignored, and a second message behind it replaces the text, if its wrapper supports that.
 */
export async function changeMessage(link: MessageLink, { session, localId }: UnsentMessage, text: string): Promise<void> {
  const cipher = link.cipherOf(session)
  const behind = await recalled(link, session, localId)
  const [first] = behind
  const body = first && openedOf(link, first.draft)
  if (cipher === undefined || body?.role !== 'user') {
    for (const { draft } of behind) await link.outbox.put(draft)
    throw new Error('it is on its way')
  }
  const { replaces: _, ...meta } = body.meta ?? {}
  const isUnsure = first?.how === 'perhaps-stored' && home.peek().sessions.get(session)?.metadata?.editsQueue === true
  const isOther = ({ draft }: { draft: Draft }) => metaOf(openedOf(link, draft)).replaces !== localId
  const others = behind.slice(1).filter(isOther)
  for (const { draft } of behind.slice(1).filter(each => !isOther(each))) giveUpDraft(cipher, draft)
  const again = [
    // With its own number too.
    { ...sealDraft(cipher, session, newUserText(text, meta)), localId },
    ...others.map(({ draft }) => draft),
    // Behind those, as its number is.
    ...(isUnsure ? [sealDraft(cipher, session, newUserText(text, { ...meta, sealedBy: undefined, replaces: localId }))] : [])
  ]
  // Together, so that they are stored together and sent in this order.
  await Promise.all(again.map(draft => link.outbox.put(draft)))
  notifyChange({ session, localId, text })
}

/** Withdraws it with everything queued behind it, except what is being sent. */
async function recalled(link: MessageLink, session: string, localId: string, tries = 5): ReturnType<typeof recalledNow> {
  const taken = await recalledNow(link, session, localId)
  const isUnderway = taken.length === 0 && link.outbox.pending.some(draft => draft.session === session && draft.localId === localId)
  if (!isUnderway || tries === 0) return taken
  // An attempt without a connection ends soon.
  await new Promise(resolve => setTimeout(resolve, againMs))
  return recalled(link, session, localId, tries - 1)
}

const againMs = 300

async function recalledNow({ outbox }: MessageLink, session: string, localId: string) {
  const drafts = outbox.pending.filter(draft => draft.session === session)
  const from = drafts.findIndex(draft => draft.localId === localId)
  const taken: { draft: Draft; how: 'withdrawn' | 'perhaps-stored' }[] = []
  for (const draft of from < 0 ? [] : drafts.slice(from).toReversed()) {
    const how = await outbox.withdraw(draft)
    if (how === 'too-late') break
    taken.unshift({ draft, how })
  }
  return taken[0]?.draft.localId === localId ? taken : await putBack(outbox, taken)
}

async function putBack(outbox: MessageLink['outbox'], taken: readonly { draft: Draft }[]): Promise<[]> {
  for (const { draft } of taken) await outbox.put(draft)
  return []
}
