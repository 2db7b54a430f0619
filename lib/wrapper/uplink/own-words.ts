import { newEnvelope, newId, newSessionMessage } from '../../client/sealed/messages.ts'
import type { MessageBody } from '../../protocol/sealed/messages.ts'

/** Something about the session itself, from Afield and in no turn of the agent. */
export function ownWords(text: string): MessageBody {
  return newSessionMessage(newEnvelope({ t: 'service', text }, { role: 'agent', turn: newId() }))
}
