import { newEnvelope, newId, newSessionMessage } from '../../client/sealed/messages.ts'
import type { MessageBody } from '../../protocol/sealed/messages.ts'
import type { SealFault } from '../../protocol/sealed/sealed-for.ts'

/** Input to the session that no device of its owner can have sent like this: reported in the session and at the terminal. */
export interface SealFaults {
  /** The last report; undefined if there was none. */
  readonly last: string | undefined
  tell(type: SealFault['type'], count?: number): void
}

/** Limited per kind: an attacker who can cause one can cause any number. */
const mostReported = 5

export function createSealFaults(keep: (body: MessageBody) => Promise<void>, onChange: () => void): SealFaults {
  const timesReported = new Map<SealFault['type'], number>()
  let last: string | undefined
  return {
    get last() {
      return last
    },
    tell(type, count = 1) {
      const times = (timesReported.get(type) ?? 0) + 1
      timesReported.set(type, times)
      last = sentences[type](count)
      onChange()
      if (times > mostReported) return
      const event = { t: 'service' as const, text: last, fault: { type, count } }
      void keep(newSessionMessage(newEnvelope(event, { role: 'agent', turn: newId() })))
    }
  }
}

const sentences: Record<SealFault['type'], (count: number) => string> = {
  'call-astray': () => 'A call was rejected: it was made for a different target. The server, or someone in between, altered it.',
  'call-repeated': () => 'A call was rejected: it repeats an earlier one. The server, or someone in between, replayed it.',
  'call-nameless': () =>
    'A call was rejected: it does not name its target, unlike other calls of this app. Is an older app open somewhere?',
  'call-late': () => 'A choice was ignored: the same device has made a newer one. The server, or someone in between, changed the order.',
  'message-repeated': () => 'A message was left out: it repeats an earlier one. The server, or someone in between, replayed it.',
  'message-astray': () => 'A message was left out: it was written for another session. The server, or someone in between, moved it here.',
  'message-nameless': () =>
    'A message was left out: it does not name its sender, unlike others here. Reload an older app; Happy’s app needs a new session.',
  'message-late': () => 'A message arrived after later ones. The server, or someone in between, changed their order.',
  'message-missing': count =>
    count === 1
      ? 'A message sent to this session did not arrive. The server lost it or is holding it back.'
      : `${count} messages sent to this session did not arrive. The server lost them or is holding them back.`
}
