import { type MessageRecord, messageRecord } from '../../../lib/protocol/wire/records.ts'
import * as v from '../../../lib/schema.ts'
import { deviceDb } from '../../core/device-db.ts'

/** The newest messages of a session as this device keeps them, sealed twice over, so that it opens without the server. */
interface SessionHistory {
  /** Ascending and without a gap up to the last; empty when nothing is kept. */
  read(): Promise<MessageRecord[]>
  /** Keeps the newest of these; `records` are ascending and without a gap. Soon, not at once. */
  keep(records: readonly MessageRecord[]): void
  /** Writes what is still to be written. */
  flush(): Promise<void>
  /** The session is gone, and so is what was kept of it. */
  forget(): Promise<void>
}

const mostKept = 200
const mostKeptCharacters = 4_000_000
const keepAfterMs = 1_500

export function openHistory(session: string): SessionHistory {
  const name = `history.${session}`
  let next: readonly MessageRecord[] | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const records = next
    next = undefined
    if (records === undefined) return
    // A device without room for it still shows everything the server has.
    await deviceDb()
      .then(db => db.write(name, newest(records)))
      .catch(() => {})
  }
  return {
    async read() {
      const kept = await deviceDb()
        .then(db => db.read(name))
        .catch(() => undefined)
      const records = Array.isArray(kept) ? kept.flatMap(each => v.safeParse(messageRecord, each).data ?? []) : []
      return unbroken(records)
    },
    keep(records) {
      next = records
      timer ??= setTimeout(() => void flush(), keepAfterMs)
    },
    flush,
    async forget() {
      clearTimeout(timer)
      timer = undefined
      next = undefined
      await deviceDb()
        .then(db => db.remove(name))
        .catch(() => {})
    }
  }
}

function newest(records: readonly MessageRecord[]): MessageRecord[] {
  const kept: MessageRecord[] = []
  let characters = 0
  for (const record of records.slice(-mostKept).toReversed()) {
    characters += record.content.c.length
    if (characters > mostKeptCharacters) break
    kept.push(record)
  }
  return kept.toReversed()
}

// A server that was put back from a backup goes on far above it: what is kept from before a gap may be of the life that is no more.
function unbroken(records: readonly MessageRecord[]): MessageRecord[] {
  const gap = records.findLastIndex((record, index) => index > 0 && record.seq !== (records[index - 1]?.seq ?? 0) + 1)
  return records.slice(Math.max(0, gap))
}
