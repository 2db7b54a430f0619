import { accountVault, CallFailed, openPreview, postCall, Refused, Unreachable } from '../../lib/client/index.ts'
import type { ParamsOfCall } from '../../lib/protocol/sealed/calls.ts'
import type { PreviewedAsk } from '../../lib/protocol/sealed/preview.ts'
import { openPins } from '../state/pins.ts'
import type { WorkerDevice } from './device.ts'
import type { About, ActionName } from './notification.ts'

export type Given = { readonly action: Extract<ActionName, 'allow' | 'deny'> } | { readonly action: 'reply'; readonly text: string }

/**
 * `applied`: the machine has done it. `sent`: the server had it, and whether the machine took it is not known. `unanswered`: nor whether the server
 * had it. `changed`: it is over, or not what was shown any more. `offline`, `undelivered`: nothing was done.
 */
export type AnswerOutcome = 'applied' | 'sent' | 'unanswered' | 'changed' | 'offline' | 'undelivered'

/** Answers what the preview of this notification asks, bound to what was shown there. */
export async function giveAnswer(device: WorkerDevice, { session, notice, preview }: About, given: Given): Promise<AnswerOutcome> {
  if (session === undefined || notice === undefined || preview === undefined) return 'undelivered'
  const opened = openPreview(accountVault(device.secret()), preview, { session, notice })
  const params = opened?.preview.asks && paramsOf(opened.preview.asks, given, device.name)
  if (opened === undefined || params === undefined) return 'undelivered'
  const cipher = { ...opened.cipher, pin: (await openPins(async () => device.db)).of(session) }
  try {
    await postCall(device.rest, cipher, session, 'permission', params)
    return 'applied'
  } catch (error) {
    return outcomeFor(error)
  }
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
