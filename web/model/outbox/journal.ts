import type { Journal } from '../../../lib/client/index.ts'
import type { DraftStore } from '../../core/device-db.ts'

/** The outbox of this device, kept in IndexedDB: what was written offline leaves when there is a link, also after a restart. */
export function deviceJournal(drafts: DraftStore): Journal {
  let isClosed = false
  let underWay: Promise<unknown> = Promise.resolve()
  const use = <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isClosed) return Promise.reject(new Error('the journal is closed'))
    const working = work()
    underWay = working.catch(() => {})
    return working
  }
  return {
    load: () => use(() => drafts.all()),
    append: added => use(() => drafts.add(added)),
    remove: removed => use(() => drafts.remove(removed)),
    async close() {
      isClosed = true
      await underWay
    }
  }
}
