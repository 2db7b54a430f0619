import { effect, type ReadonlySignal } from '@preact/signals'
import { trueNow } from '../../core/clock.ts'
import type { SessionFacts } from './facts.ts'

/** When a message reached each stage, as seen by this device; ms since 1970. */
export interface Stages {
  readonly machineAt?: number | undefined
  readonly readAt?: number | undefined
}

/** The server reports how far the messages of a session are, but not since when: this records when the report arrived. */
export function watchStages(facts: ReadonlySignal<SessionFacts | undefined>): { of(seq: number): Stages; close(): void } {
  const delivered = newsOf(facts, 'deliveredSeq')
  const read = newsOf(facts, 'readSeq')
  return {
    of: seq => ({ machineAt: delivered.at(seq), readAt: read.at(seq) }),
    close() {
      delivered.close()
      read.close()
    }
  }
}

function newsOf(facts: ReadonlySignal<SessionFacts | undefined>, name: 'deliveredSeq' | 'readSeq') {
  // The initial state was reached before the session was opened.
  let first: number | undefined
  const news: { upTo: number; at: number }[] = []
  const close = effect(() => {
    const upTo = facts.value?.[name]
    if (upTo === undefined) return
    first ??= upTo
    if (upTo > (news.at(-1)?.upTo ?? first)) news.push({ upTo, at: trueNow() })
  })
  return {
    close,
    at: (seq: number) => (first === undefined || seq <= first ? undefined : news.find(({ upTo }) => upTo >= seq)?.at)
  }
}
