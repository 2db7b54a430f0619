import { type Draft, envelopeOf, giveUpDraft, newEnvelope, newUserText, openMessage, sealDraft } from '../../../lib/client/index.ts'
import type { MessageBody } from '../../../lib/protocol/sealed/messages.ts'
import { encryptedContent } from '../../../lib/protocol/wire/records.ts'
import type { Live } from '../account/live.ts'
import { home } from '../home.ts'
import { tellLeaving } from './changes.ts'

type Link = Pick<Live, 'outbox' | 'cipherOf'>

/** A message of a person that has not left this device. */
export interface LeavingMessage {
  readonly session: string
  readonly localId: string
  readonly text: string
}

/** In the order in which they leave. What changes one that is there already stands for it; of what does not open here nothing is told. */
export function leavingMessages(link: Link, drafts: readonly Draft[]): LeavingMessage[] {
  const messages = new Map<string, LeavingMessage>()
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
 * It says this instead, at the same place and under its own name. Under that name something may have been stored, although nobody said so:
 * then what is sent now is not, and a second one behind it replaces the words, where its wrapper can do that.
 */
export async function changeLeaving(link: Link, { session, localId }: LeavingMessage, text: string): Promise<void> {
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
    // Under its own number too.
    { ...sealDraft(cipher, session, newUserText(text, meta)), localId },
    ...others.map(({ draft }) => draft),
    // Behind those, as its number is.
    ...(isUnsure ? [sealDraft(cipher, session, newUserText(text, { ...meta, sealedBy: undefined, replaces: localId }))] : [])
  ]
  // At once, so that they are kept together and leave in this order.
  await Promise.all(again.map(draft => link.outbox.put(draft)))
  tellLeaving({ session, localId, text })
}

/** It does not leave; what of it left after all is withdrawn. */
export async function withdrawLeaving(link: Link, { session, localId }: LeavingMessage): Promise<void> {
  const cipher = link.cipherOf(session)
  const drafts = link.outbox.pending.filter(draft => draft.session === session)
  const isIts = (draft: Draft) => draft.localId === localId || metaOf(openedOf(link, draft)).replaces === localId
  const outcomes: string[] = []
  const takeBack = async (draft: Draft) => {
    const how = await link.outbox.withdraw(draft)
    if (cipher && how !== 'too-late') giveUpDraft(cipher, draft)
    return how
  }
  for (const draft of drafts.filter(isIts)) outcomes.push(await takeBack(draft))
  for (const file of filesBefore(link, drafts, localId)) await takeBack(file)
  tellLeaving({ session, localId, text: undefined })
  // What leaves behind it would else seem to have lost it on the way.
  const isMissed = link.outbox.pending.some(draft => draft.session === session)
  if (outcomes.length > 0 && outcomes.every(outcome => outcome === 'withdrawn') && !isMissed) return
  const withdrawal = newEnvelope({ t: 'withdraw', localId }, { role: 'user' })
  if (cipher)
    await link.outbox.put(
      sealDraft(cipher, session, { role: 'session', content: { type: 'session', data: withdrawal }, meta: { sentFrom: 'web' } })
    )
}

/** Takes it back with all that leaves behind it, as far as that is not on its way. */
async function recalled(link: Link, session: string, localId: string, tries = 5): ReturnType<typeof recalledNow> {
  const taken = await recalledNow(link, session, localId)
  const isUnderway = taken.length === 0 && link.outbox.pending.some(draft => draft.session === session && draft.localId === localId)
  if (!isUnderway || tries === 0) return taken
  // An attempt that leads nowhere ends soon.
  await new Promise(resolve => setTimeout(resolve, againMs))
  return recalled(link, session, localId, tries - 1)
}

const againMs = 300

async function recalledNow({ outbox }: Link, session: string, localId: string) {
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

async function putBack(outbox: Link['outbox'], taken: readonly { draft: Draft }[]): Promise<[]> {
  for (const { draft } of taken) await outbox.put(draft)
  return []
}

/** What was announced for it. */
function filesBefore(link: Link, drafts: readonly Draft[], localId: string): Draft[] {
  const at = drafts.findIndex(draft => draft.localId === localId)
  const files: Draft[] = []
  for (const draft of drafts.slice(0, Math.max(0, at)).toReversed()) {
    const body = openedOf(link, draft)
    if (body === undefined || envelopeOf(body)?.ev.t !== 'file') break
    files.push(draft)
  }
  return files
}

function metaOf(body: MessageBody | undefined): { replaces?: string | undefined } {
  return (body?.role === 'user' && body.meta) || {}
}

function openedOf({ cipherOf }: Link, { session, content }: Draft): MessageBody | undefined {
  const cipher = cipherOf(session)
  const opened = cipher && openMessage(cipher, { content: encryptedContent.parse({ t: 'encrypted', c: content }) })
  return opened?.ok === true ? opened.body : undefined
}
