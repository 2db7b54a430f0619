import type { Draft } from '../sealed/messages.ts'

/**
 * Where drafts wait so that a crash does not lose them: a file in Node, IndexedDB in the browser.
 * Every implementation passes test/client/outbox/journal-contract.ts. Calls do not overlap, except
 * that `close` may come at any time.
 */
export interface Journal {
  /**
   * Everything appended and not removed, in append order. Called once, before anything else. Damage at
   * the end is cut off, never fatal.
   */
  load(): Promise<Draft[]>
  /** Resolves when the drafts would survive a power cut; if it rejects, none of them may come back. */
  append(drafts: readonly Draft[]): Promise<void>
  /**
   * Drafts that are no longer needed. May take effect late: after a crash they may come back once
   * more, which does no harm.
   */
  remove(drafts: readonly Pick<Draft, 'session' | 'localId'>[]): Promise<void>
  /** Resolves when calls in progress have ended; later calls reject. */
  close(): Promise<void>
}

/** Holds drafts only as long as the process lives: for tests, and for messages that need not outlive it. */
export function createMemoryJournal(drafts: readonly Draft[] = []): Journal {
  let kept = [...drafts]
  let isClosed = false
  const whileOpen = async () => {
    if (isClosed) throw new Error('the journal is closed')
  }

  return {
    async load() {
      await whileOpen()
      return [...kept]
    },
    async append(added) {
      await whileOpen()
      kept.push(...added)
    },
    async remove(removed) {
      await whileOpen()
      const gone = new Set(removed.map(draftKey))
      kept = kept.filter(draft => !gone.has(draftKey(draft)))
    },
    async close() {
      isClosed = true
    }
  }
}

/** One unambiguous text for each draft, whatever characters its ids have. */
export function draftKey({ session, localId }: Pick<Draft, 'session' | 'localId'>): string {
  return JSON.stringify([session, localId])
}
