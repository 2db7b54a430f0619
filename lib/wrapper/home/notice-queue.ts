import * as z from 'zod'
import { Refused } from '../../client/link/refusals.ts'
import { newId } from '../../client/sealed/messages.ts'
import type { BodyOf } from '../../protocol/wire/routes.ts'

export type Notice = BodyOf<'notify'>

/** One that the server does not have yet, or that it has and that is still open. */
export const keptNotice = z.object({
  /** The same for every attempt: the server tells it once. */
  id: z.string(),
  kind: z.enum(['done', 'permission', 'question', 'error', 'failed', 'silent']),
  /** What it waits for; null for news, which nobody has to answer. */
  ask: z.string().nullable(),
  turnMs: z.number().optional(),
  startedFrom: z.enum(['phone', 'terminal']).optional(),
  /** Noted before the first attempt: whoever dies in it may have told it. */
  isTried: z.boolean(),
  isSent: z.boolean(),
  /** It needs nobody any more, and the server has to hear that. */
  isOver: z.boolean()
})
export type KeptNotice = z.infer<typeof keptNotice>

/** As much of a session's folder as is needed here. */
interface NoticeFolder {
  readonly notes: { notices?: KeptNotice[] | undefined }
  note(changes: { notices: KeptNotice[] }): void
}

/** What phones have to be told of one session, on disk until the server took it. */
export interface NoticeQueue {
  add(notice: Pick<KeptNotice, 'kind' | 'ask' | 'turnMs' | 'startedFrom'>): void
  /** Ends what waits for any other ask than these: one that never left is dropped, and one that may have is settled. */
  keepOpen(asks: readonly string[]): void
  /** Forgets news that the server does not have: something newer is under way. */
  dropNews(): void
  /** Sends what waits, in order. Resolves when nothing does, or the server cannot be reached. Runs once at a time. */
  flush(): Promise<void>
}

/** `send` gets the ask that the notice is about, and rejects with `Refused` when the server does not want it, and with anything else when it is to be sent again later. */
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
      // News is not waited for, and what was settled is over; the rest may have ended while it was sent.
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

// A limit and a sign-in that is being renewed pass; a session that is not there may be opened again.
function isForGood({ status }: Refused): boolean {
  return ![401, 403, 404, 408, 429].includes(status)
}

// The server and whoever delivers the notice read this, so it says nothing of what the agent does.
const words: Record<KeptNotice['kind'], { title: string; body: string }> = {
  done: { title: 'Your agent is done', body: 'Open the app to see it.' },
  error: { title: 'Your agent ran into an error', body: 'Open the app to see it.' },
  failed: { title: 'A session stopped', body: 'Open the app to see why.' },
  silent: { title: 'Your agent has gone quiet', body: 'Open the app to look at it.' },
  permission: { title: 'Your agent needs a decision', body: 'Open the app to decide.' },
  question: { title: 'Your agent has a question', body: 'Open the app to answer.' }
}
