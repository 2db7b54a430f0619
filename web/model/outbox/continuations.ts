import type { Transcript } from '../transcript/transcript.ts'
import type { EntryState, Kind } from './durable-queue.ts'

/** A session whose agent reached its limit, and that continues automatically when that ends and the app is open. */
export interface Continuation {
  readonly key: string
  readonly kind: 'continuation'
  readonly session: string
  /** ms since 1970 */
  readonly at: number
  readonly text: string
  readonly state: EntryState
}

export interface ContinuationSources {
  say(session: string, text: string): Promise<void>
  /** Whether a message can be sealed for it now. */
  canSay(session: string): boolean
}

/** A session continues once per window. */
export function newContinuation(session: string, at: number, text: string): Continuation {
  return { key: continuationKey(session), kind: 'continuation', session, at, text, state: { type: 'queued' } }
}

export function continuationKey(session: string): string {
  return `continue ${session}`
}

export function continuations({ say, canSay }: ContinuationSources): Kind<Continuation> {
  return {
    mayLeave: ({ session, at }) => (canSay(session) ? at : Number.POSITIVE_INFINITY),
    async send({ session, text }) {
      await say(session, text)
      return undefined
    },
    // It may have been sent.
    asLeft: () => undefined
  }
}

/** The end of the latest limit; undefined if it is over, or newer output followed it. */
export function limitEnd({ items }: Pick<Transcript, 'items'>, at: number): number | undefined {
  const last = items.findLast(item => item.type === 'limit' || item.type === 'mine' || item.type === 'prose' || item.type === 'step')
  return last?.type === 'limit' && last.endsAt !== undefined && last.endsAt > at ? last.endsAt : undefined
}
