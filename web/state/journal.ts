import type { Journal } from '../../lib/client/index.ts'
import type { DraftStore } from './device-db.ts'

/** The outbox of this device, kept in IndexedDB: what was written offline leaves when there is a link, also after a restart. */
export function deviceJournal(drafts: DraftStore): Journal {
  let isClosed = false
  const use = async <Result>(work: () => Promise<Result>) => {
    if (isClosed) throw new Error('the journal is closed')
    return work()
  }
  return {
    load: () => use(() => drafts.all()),
    append: added => use(() => drafts.add(added)),
    remove: removed => use(() => drafts.remove(removed)),
    async close() {
      isClosed = true
    }
  }
}
