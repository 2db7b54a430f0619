import { type MessageRecord, messageRecord } from '../../../lib/protocol/wire/records.ts'
import * as v from '../../../lib/schema.ts'
import { deviceDb } from '../../core/device-db.ts'

/** The newest messages of a session as stored on this device, sealed twice, so that it opens without the server. */
interface SessionHistory {
  /** Ascending and without a gap up to the last; empty if nothing is stored. */
  read(): Promise<MessageRecord[]>
  /** Stores the newest of these; `records` are ascending and without a gap. Soon, not immediately. */
  keep(records: readonly MessageRecord[]): void
  /** Writes everything pending. */
  flush(): Promise<void>
  /** The session is gone, so its stored messages are erased. */
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
    // A device without space still shows everything that the server has.
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

// A server restored from a backup continues with much higher numbers: messages stored before a gap may be from the lost history.
function unbroken(records: readonly MessageRecord[]): MessageRecord[] {
  const gap = records.findLastIndex((record, index) => index > 0 && record.seq !== (records[index - 1]?.seq ?? 0) + 1)
  return records.slice(Math.max(0, gap))
}
