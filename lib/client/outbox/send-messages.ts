import { sealed } from '../../protocol/wire/ids.ts'
import type { MessageReceipt, MessageRecord } from '../../protocol/wire/records.ts'
import * as v from '../../schema.ts'
import { Refused, Unreachable } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'
import type { Draft } from '../sealed/messages.ts'

/** Sends messages in one request; resolves to what the server stored, including repeats. See `sendOver`. */
export type SendMessages = (
  session: string,
  messages: readonly Pick<Draft, 'localId' | 'content'>[],
  signal: AbortSignal
) => Promise<readonly MessageReceipt[]>

/** Over HTTP, with enough time for a slow phone. */
export function sendOver(rest: Pick<Rest, 'call'>): SendMessages {
  return async (session, drafts, signal) => {
    const messages = drafts.map(({ localId, content }) => ({ localId, content }))
    const options = { signal, timeoutMs: 120_000 }
    const reply = await rest.call('appendMessages', { params: { id: session }, body: { messages } }, options).catch(waitForName)
    return reply.messages
  }
}

/** A server that does not know its own public name accepts no message: they wait until it does. */
function waitForName(error: unknown): never {
  if (error instanceof Refused && error.status === misdirected)
    throw new Unreachable('strange-answer', { status: misdirected, cause: error })
  throw error
}

const misdirected = 421

/** Joins the server's answer for each message with what was sent. */
export function recordsOf(receipts: readonly MessageReceipt[], drafts: readonly Draft[]): MessageRecord[] {
  const contentByLocalId = new Map<string, string>(drafts.map(({ localId, content }) => [localId, content]))
  return receipts.flatMap(receipt => {
    const content = receipt.localId === null ? undefined : contentByLocalId.get(receipt.localId)
    return content === undefined ? [] : [{ ...receipt, content: { t: 'encrypted' as const, c: v.parse(sealed, content) } }]
  })
}
