import { Refused } from '../../client/link/refusals.ts'
import { newId } from '../../client/sealed/messages.ts'
import type { BodyOf } from '../../protocol/wire/routes.ts'
import * as v from '../../schema.ts'

export type Notice = BodyOf<'notify'>

/** One that is not on the server yet, or is and still open. */
export const keptNotice = v.object({
  /** The same for every attempt: the server delivers it once. */
  id: v.string(),
  kind: v.picklist(['done', 'permission', 'question', 'error', 'failed', 'silent']),
  /** The request it is about; null for news, which needs no answer. */
  ask: v.nullable(v.string()),
  turnMs: v.optional(v.number()),
  startedFrom: v.optional(v.picklist(['phone', 'terminal'])),
  /** Recorded before the first attempt: a process that dies in it may have sent it. */
  isTried: v.boolean(),
  isSent: v.boolean(),
  /** Nobody needs it any more, and the server has to be notified. */
  isOver: v.boolean()
})
export type KeptNotice = v.InferOutput<typeof keptNotice>

/** The part of a session's folder needed here. */
interface NoticeFolder {
  readonly notes: { notices?: KeptNotice[] | undefined }
  note(changes: { notices: KeptNotice[] }): void
}

/** Notices of one session for phones, on disk until the server has them. */
export interface NoticeQueue {
  add(notice: Pick<KeptNotice, 'kind' | 'ask' | 'turnMs' | 'startedFrom'>): void
  /**
   * Ends notices for any request other than these: one never sent is dropped, and one that may have been
   * sent is settled.
   */
  keepOpen(asks: readonly string[]): void
  /** Drops news that is not on the server yet: something newer follows. */
  dropNews(): void
  /**
   * Sends pending notices, in order. Resolves when none is pending, or the server is unreachable. Runs once
   * at a time.
   */
  flush(): Promise<void>
}

/**
 * `send` gets the request that the notice is about, and rejects with `Refused` if the server rejects it,
 * and with any other error if it is to be retried later.
 */
export function createNoticeQueue(folder: NoticeFolder, send: (notice: Notice, ask: string | null) => Promise<unknown>): NoticeQueue {
  let flushing: Promise<void> | undefined
  const kept = () => folder.notes.notices ?? []
  const keep = (notices: KeptNotice[]) => folder.note({ notices })
  const change = (id: string, to: Partial<KeptNotice> | undefined) =>
    keep(kept().flatMap(notice => (notice.id !== id ? [notice] : to ? [{ ...notice, ...to }] : [])))

  async function sendAll(): Promise<void> {
    for (let next = firstToSend(kept()); next; next = firstToSend(kept())) {
      const { id, isOver, isTried } = next
      if (!isTried) change(id, { isTried: true })
      try {
        await send(isOver ? { ...words[next.kind], kind: 'settled', noticeId: id } : noticeOf(next), next.ask)
      } catch (error) {
        if (!(error instanceof Refused) || !isForGood(error)) return
        change(id, undefined)
        continue
      }
      // News needs no settling, and settled ones are over; others may have ended while being sent.
      change(id, isOver || next.ask === null ? undefined : { isSent: true })
    }
  }

  return {
    add({ ask, ...notice }) {
      keep([...kept(), { ...notice, ask, id: newId(), isTried: false, isSent: false, isOver: false }])
      void this.flush()
    },
    keepOpen(asks) {
      const isDone = ({ ask, isOver }: KeptNotice) => ask !== null && !isOver && !asks.includes(ask)
      if (!kept().some(isDone)) return
      keep(kept().flatMap(notice => (!isDone(notice) ? [notice] : notice.isTried ? [{ ...notice, isOver: true }] : [])))
      void this.flush()
    },
    dropNews() {
      if (kept().some(({ ask }) => ask === null)) keep(kept().filter(({ ask }) => ask !== null))
    },
    flush() {
      flushing ??= sendAll().finally(() => {
        flushing = undefined
      })
      return flushing
    }
  }
}

function firstToSend(notices: readonly KeptNotice[]): KeptNotice | undefined {
  return notices.find(({ isSent, isOver }) => isOver || !isSent)
}

function noticeOf({ id, kind, turnMs, startedFrom }: KeptNotice): Notice {
  return { kind, ...words[kind], noticeId: id, ...(turnMs !== undefined && { turnMs }), ...(startedFrom && { startedFrom }) }
}

// Rate limits and token renewals pass; a missing session may be opened again.
function isForGood({ status }: Refused): boolean {
  return ![401, 403, 404, 408, 429].includes(status)
}

// The server and the provider read this, so it reveals nothing of the agent's work.
const words: Record<KeptNotice['kind'], { title: string; body: string }> = {
  done: { title: 'Your agent is done', body: 'Open the app to see it.' },
  error: { title: 'Your agent ran into an error', body: 'Open the app to see it.' },
  failed: { title: 'A session stopped', body: 'Open the app to see why.' },
  silent: { title: 'Your agent has gone quiet', body: 'Open the app to look at it.' },
  permission: { title: 'Your agent needs a decision', body: 'Open the app to decide.' },
  question: { title: 'Your agent has a question', body: 'Open the app to answer.' }
}
