import { accountVault, CallFailed, type Cipher, openPreview, postCall, Refused, Unreachable } from '../../../lib/client/index.ts'
import type { ParamsOfCall } from '../../../lib/protocol/sealed/calls/calls.ts'
import type { PreviewedAsk } from '../../../lib/protocol/sealed/preview.ts'
import { openPins } from '../../model/account/pins.ts'
import type { WorkerDevice } from './device.ts'
import type { About, ActionName } from './notification.ts'
import { openAskOf } from './open-request.ts'

export type Given = { readonly action: Extract<ActionName, 'allow' | 'deny'> } | { readonly action: 'reply'; readonly text: string }

/**
 * `applied`: the machine applied it. `sent`: the server has it, but it is unknown whether the machine received it. `unanswered`: it is unknown whether
 * even the server has it. `changed`: the request is over, or differs from what was shown. `offline`, `undelivered`: nothing was sent. `several`:
 * nothing was sent, because several requests are open and none of them was shown.
 */
export type AnswerOutcome = 'applied' | 'sent' | 'unanswered' | 'changed' | 'offline' | 'undelivered' | 'several'

/** Answers the request in the notification's preview, bound to what was shown. Without a preview, only the session's open request can be denied. */
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

/** A request that was not shown can only be denied. */
async function unseen(device: WorkerDevice, session: string, { action }: Given): Promise<Answer | 'undelivered' | 'changed' | 'several'> {
  if (action !== 'deny') return 'undelivered'
  const open = await openAskOf(device, session)
  if (open === 'none') return 'changed'
  if (open === 'several') return open
  return { cipher: open.cipher, params: { id: open.id, approved: false, decision: 'denied', answeredBy: device.name } }
}

/** In the same format as the app, see `answerParams` and `questionParams`. Undefined if it may not be answered from a notification. */
function paramsOf(asks: PreviewedAsk, given: Given, me: string): ParamsOfCall<'permission'> | undefined {
  const about = { id: asks.id, ...(asks.shown !== undefined && { shown: asks.shown }), answeredBy: me }
  if (asks.type === 'question') {
    if (given.action !== 'reply' || asks.reply === undefined || given.text.trim() === '') return undefined
    return { ...about, approved: true, decision: 'approved', answers: { [asks.reply]: { values: [], other: given.text } } }
  }
  if (given.action === 'deny') return { ...about, approved: false, decision: 'denied' }
  // The setting permits no more than this, whatever buttons the notification had.
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
