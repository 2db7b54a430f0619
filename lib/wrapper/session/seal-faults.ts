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
const mostTold = 5

export function createSealFaults(keep: (body: MessageBody) => Promise<void>, onChange: () => void): SealFaults {
  const told = new Map<SealFault['type'], number>()
  let last: string | undefined
  return {
    get last() {
      return last
    },
    tell(type, count = 1) {
      const times = (told.get(type) ?? 0) + 1
      told.set(type, times)
      last = sentences[type](count)
      onChange()
      if (times > mostTold) return
      const event = { t: 'service' as const, text: last, fault: { type, count } }
      void keep(newSessionMessage(newEnvelope(event, { role: 'agent', turn: newId() })))
    }
  }
}

const sentences: Record<SealFault['type'], (count: number) => string> = {
  'call-astray': () => 'A call was refused: it was made for something else. The server, or somebody on the way, changed it.',
  'call-repeated': () => 'A call was refused: it had been made before. The server, or somebody on the way, made it again.',
  'call-nameless': () => 'A call was refused: it does not say what it is for, as calls of this app do. Is an older app open somewhere?',
  'call-late': () =>
    'A choice was left as it is: the same device had chosen otherwise since. The server, or somebody on the way, changed the order.',
  'message-repeated': () => 'A message was left out: it had come before. The server, or somebody on the way, sent it again.',
  'message-astray': () => 'A message was left out: it was written for another session. The server, or somebody on the way, moved it here.',
  'message-nameless': () =>
    'A message was left out: it does not say who sent it, and others here do. An older app is to be reloaded; an app of Happy needs a new session.',
  'message-late': () => 'A message came after later ones. The server, or somebody on the way, changed their order.',
  'message-missing': count =>
    count === 1
      ? 'A message that was sent to this session did not come. The server lost it or keeps it back.'
      : `${count} messages that were sent to this session did not come. The server lost them or keeps them back.`
}
