import type { Quotas } from './quotas.ts'
import type { Message, MessageDraft } from './rows.ts'

/** Existing apps page backwards from 2^31 - 1, so no message may have that number. */
export const lastPossibleSeq = 2 ** 31 - 2
/** A page ends early past this size, so that a few huge messages cannot fill the memory. */
export const mostPageBytes = 16 * 1024 * 1024

/** Counters of an account. */
export interface Counters {
  clock: number
  messages: number
  bytes: number
  /** Of attachments and artifacts; appends do not move them. */
  bytesBeside: number
}

/** The quota that these drafts would exceed. */
export function excessOf(
  { messages, bytes, bytesBeside }: Counters,
  drafts: readonly MessageDraft[],
  quotas: Pick<Quotas, 'messages' | 'bytes'>
): 'messages' | 'bytes' | undefined {
  if (drafts.length === 0) return undefined
  if (messages + drafts.length > quotas.messages) return 'messages'
  return quotas.bytes !== Number.POSITIVE_INFINITY && bytes + bytesBeside + bytesOf(drafts) > quotas.bytes ? 'bytes' : undefined
}

/** A draft repeated within its batch is answered once. */
export function inOrder(messages: Message[]): Message[] {
  return [...new Map(messages.map(message => [message.seq, message])).values()].toSorted((a, b) => a.seq - b.seq)
}

export function bytesOf(drafts: readonly MessageDraft[]): number {
  let bytes = 0
  for (const { sealed } of drafts) bytes += sealed.length
  return bytes
}
