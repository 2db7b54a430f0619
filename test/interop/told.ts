import { type Envelope, envelope, type MessageBody } from '../../lib/protocol/sealed/messages.ts'
import * as v from '../../lib/schema.ts'
import type { Said } from './memory.ts'

/** Each message as one line that a test can compare. */
export function told(said: readonly Said[]): string[] {
  return said.map(({ body }) => tell(body))
}

/** After an outage this CLI delivers the newest first; a screen goes by the time in the envelope. Other messages stay where they are. */
export function inTimeOrder(said: readonly Said[]): Said[] {
  const enveloped = said.filter(({ body }) => envelopeOf(body))
  const sorted = enveloped.toSorted((a, b) => timeOf(a) - timeOf(b))
  const next = sorted.values()
  return said.map(message => (envelopeOf(message.body) ? (next.next().value ?? message) : message))
}

function tell(body: MessageBody): string {
  if (body.role === 'user') return `user ${body.content.text}`
  const event = envelopeOf(body)?.ev
  if (event) return tellEvent(event)
  if (body.role !== 'agent' || !('data' in body.content)) return body.role
  const { type, message } = body.content.data
  return typeof message === 'string' ? `${type} ${message}` : type
}

function tellEvent(ev: Envelope['ev']): string {
  switch (ev.t) {
    case 'text':
      return `${ev.thinking ? 'thinking' : 'text'} ${ev.text}`
    case 'turn-end':
      return `turn-end ${ev.status}`
    default:
      return ev.t
  }
}

function envelopeOf(body: MessageBody): Envelope | undefined {
  if (body.role !== 'session') return undefined
  return v.parse(envelope, 'ev' in body.content ? body.content : body.content['data'])
}

function timeOf({ body }: Said): number {
  return envelopeOf(body)?.time ?? 0
}
