import { accountVault, CallFailed, type Cipher, openPreview, postCall, Refused, Unreachable } from '../../../lib/client/index.ts'
import type { ParamsOfCall } from '../../../lib/protocol/sealed/calls/calls.ts'
import type { PreviewedAsk } from '../../../lib/protocol/sealed/preview.ts'
import { openPins } from '../../model/account/pins.ts'
import type { WorkerDevice } from './device.ts'
import type { About, ActionName } from './notification.ts'
import { openAskOf } from './open-request.ts'

export type Given = { readonly action: Extract<ActionName, 'allow' | 'deny'> } | { readonly action: 'reply'; readonly text: string }

/**
 * `applied`: the machine has done it. `sent`: the server had it, and whether the machine took it is not known. `unanswered`: nor whether the server
 * had it. `changed`: it is over, or not what was shown any more. `offline`, `undelivered`: nothing was done. `several`: nor was anything, as more
 * than one request is open and none was shown.
 */
export type AnswerOutcome = 'applied' | 'sent' | 'unanswered' | 'changed' | 'offline' | 'undelivered' | 'several'

/** Answers what the preview of this notification asks, bound to what was shown there. Without one it denies what is open in its session. */
export async function giveAnswer(device: WorkerDevice, about: About, given: Given): Promise<AnswerOutcome> {
  const { session, preview } = about
  if (session === undefined) return 'undelivered'
  try {
    const answer = preview === undefined ? await unseen(device, session, given) : answerTo(device, about, given)
    if (typeof answer === 'string') return answer
    const cipher = { ...answer.cipher, pin: (await openPins(async () => device.db)).of(session) }
    await postCall(device.rest, cipher, session, 'permission', answer.params)
    return 'applied'
  } catch (error) {
    return outcomeFor(error)
  }
}

interface Answer {
  readonly cipher: Cipher
  readonly params: ParamsOfCall<'permission'>
}

function answerTo(device: WorkerDevice, { session, notice, preview }: About, given: Given): Answer | 'undelivered' {
  if (session === undefined || notice === undefined || preview === undefined) return 'undelivered'
  const opened = openPreview(accountVault(device.secret()), preview, { session, notice })
  const params = opened?.preview.asks && paramsOf(opened.preview.asks, given, device.name)
  return opened && params ? { cipher: opened.cipher, params } : 'undelivered'
}

/** What nobody showed may be denied, and nothing else. */
async function unseen(device: WorkerDevice, session: string, { action }: Given): Promise<Answer | 'undelivered' | 'changed' | 'several'> {
  if (action !== 'deny') return 'undelivered'
  const open = await openAskOf(device, session)
  if (open === 'none') return 'changed'
  if (open === 'several') return open
  return { cipher: open.cipher, params: { id: open.id, approved: false, decision: 'denied', answeredBy: device.name } }
}

/** As the app answers, see `answerParams` and `questionParams`. Undefined for what may not be answered so. */
function paramsOf(asks: PreviewedAsk, given: Given, me: string): ParamsOfCall<'permission'> | undefined {
  const about = { id: asks.id, ...(asks.shown !== undefined && { shown: asks.shown }), answeredBy: me }
  if (asks.type === 'question') {
    if (given.action !== 'reply' || asks.reply === undefined || given.text.trim() === '') return undefined
    return { ...about, approved: true, decision: 'approved', answers: { [asks.reply]: { values: [], other: given.text } } }
  }
  if (given.action === 'deny') return { ...about, approved: false, decision: 'denied' }
  // What was turned on lets only this much pass, whatever the notification offered.
  return given.action === 'allow' && asks.mayAllow ? { ...about, approved: true, decision: 'approved' } : undefined
}

function outcomeFor(error: unknown): AnswerOutcome {
  if (error instanceof Unreachable) return error.status === undefined ? 'offline' : 'undelivered'
  if (error instanceof Refused || !(error instanceof CallFailed)) return 'undelivered'
  switch (error.reason) {
    case 'failed':
      return 'changed'
    case 'no-answer':
      if (!navigator.onLine) return 'offline'
      return error.cause instanceof Unreachable && error.cause.status !== undefined ? 'sent' : 'unanswered'
    case 'away':
    case 'not-connected':
      return 'undelivered'
    case 'unreadable':
    case 'astray':
      return 'sent'
  }
}
