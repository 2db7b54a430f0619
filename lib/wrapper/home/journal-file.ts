import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { draftKey, type Journal } from '../../client/outbox/journal.ts'
import type { Draft } from '../../client/sealed/messages.ts'
import * as v from '../../schema.ts'
import { makePrivateFolder, syncFolder } from './private-files.ts'

/**
 * The journal as one append-only file, until acknowledged records make up most of it. A record is a mark,
 * its length, its CRC-32 and its JSON. Damage is skipped: at the end it is a torn write, which nobody was
 * told of; in the middle, one record [W4].
 */
export function openJournalFile(path: string): Journal {
  return new JournalFile(path)
}

const mark = Buffer.from([0xaf, 0x1e, 0x1d, 0x00]) // JSON has no zero byte, so no record can contain one.
const headBytes = mark.length + 8
const worthCompacting = 1024 * 1024

/** Only syncing takes long. A write to the page cache is faster than waking another thread for it. */
class JournalFile implements Journal {
  readonly #path: string
  #file: number | undefined
  #length = 0
  /** After that length the file may hold the beginning of a record. */
  #isTorn = false
  #waiting = new Map<string, Draft>()
  #waitingBytes = 0
  #busy: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
  }

  load(): Promise<Draft[]> {
    return this.#inTurn(async () => {
      makePrivateFolder(dirname(this.#path))
      const file = openSync(this.#path, 'a+', 0o600)
      this.#file = file
      const { records, end } = readRecords(readFileSync(file))
      if (end < fstatSync(file).size) ftruncateSync(file, end)
      await sync(file)
      syncFolder(dirname(this.#path))
      this.#length = end
      for (const record of records) this.#apply(record)
      return [...this.#waiting.values()]
    })
  }

  append(drafts: readonly Draft[]): Promise<void> {
    return this.#inTurn(async () => {
      const record: JournalRecord = { put: [...drafts] }
      await this.#write(encode(record))
      this.#apply(record)
    })
  }

  remove(drafts: readonly Pick<Draft, 'session' | 'localId'>[]): Promise<void> {
    return this.#inTurn(async () => {
      const file = this.#opened()
      const record: JournalRecord = { gone: drafts.map(({ session, localId }) => [session, localId]) }
      this.#apply(record)
      if (this.#waiting.size === 0) {
        ftruncateSync(file, 0)
        this.#length = 0
        this.#isTorn = false
        return
      }
      // No sync: after a crash these drafts are sent once more, and the server recognizes them.
      await this.#write(encode(record), { isSynced: false })
      if (this.#length > worthCompacting && this.#length > 2 * this.#waitingBytes) await this.#compact()
    })
  }

  async close(): Promise<void> {
    await this.#busy
    const file = this.#file
    this.#file = undefined
    if (file !== undefined) closeSync(file)
  }

  async #write(bytes: Buffer, { isSynced } = { isSynced: true }): Promise<void> {
    const file = this.#opened()
    // Half a record must not come back after the caller was told that it failed, nor precede the next.
    if (this.#isTorn) ftruncateSync(file, this.#length)
    this.#isTorn = true
    try {
      writeFileSync(file, bytes)
      if (isSynced) await sync(file)
      this.#length += bytes.length
      this.#isTorn = false
    } catch (error) {
      ftruncateSync(file, this.#length)
      this.#isTorn = false
      throw error
    }
  }

  async #compact(): Promise<void> {
    const next = `${this.#path}.new`
    const file = openSync(next, 'w', 0o600)
    const bytes = encode({ put: [...this.#waiting.values()] })
    try {
      writeFileSync(file, bytes)
      await sync(file)
    } finally {
      closeSync(file)
    }
    renameSync(next, this.#path)
    syncFolder(dirname(this.#path))
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = openSync(this.#path, 'a+', 0o600)
    this.#length = bytes.length
  }

  #apply(record: JournalRecord): void {
    if ('put' in record) {
      for (const draft of record.put) {
        this.#waiting.set(draftKey(draft), draft)
        this.#waitingBytes += draft.content.length
      }
      return
    }
    for (const [session, localId] of record.gone) {
      const name = draftKey({ session, localId })
      this.#waitingBytes -= this.#waiting.get(name)?.content.length ?? 0
      this.#waiting.delete(name)
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#busy.then(work)
    this.#busy = result.catch(() => {})
    return result
  }

  #opened(): number {
    if (this.#file === undefined) throw new Error('the journal is closed')
    return this.#file
  }
}

const sync = promisify(fdatasync)

const draft = v.object({
  session: v.string(),
  localId: v.string(),
  content: v.string(),
  createdAt: v.number(),
  isPassing: v.optional(v.boolean())
})
const journalRecord = v.union([v.object({ put: v.array(draft) }), v.object({ gone: v.array(v.tuple([v.string(), v.string()])) })])
type JournalRecord = v.InferOutput<typeof journalRecord>

function encode(record: JournalRecord): Buffer {
  const json = Buffer.from(JSON.stringify(record))
  const head = Buffer.alloc(headBytes)
  mark.copy(head)
  head.writeUInt32LE(json.length, mark.length)
  head.writeUInt32LE(crc32(json), mark.length + 4)
  return Buffer.concat([head, json])
}

/** Every complete record, and the end of the last one. */
function readRecords(bytes: Buffer): { records: JournalRecord[]; end: number } {
  const records: JournalRecord[] = []
  let end = 0
  let at = 0
  while (at >= 0 && at < bytes.length) {
    const read = readRecord(bytes, at)
    if (read) {
      records.push(read.record)
      end = read.end
      at = read.end
    } else {
      at = bytes.indexOf(mark, at + 1)
    }
  }
  return { records, end }
}

function readRecord(bytes: Buffer, at: number): { record: JournalRecord; end: number } | undefined {
  if (at + headBytes > bytes.length || !bytes.subarray(at, at + mark.length).equals(mark)) return undefined
  const start = at + headBytes
  const end = start + bytes.readUInt32LE(at + mark.length)
  if (end > bytes.length) return undefined
  const json = bytes.subarray(start, end)
  if (crc32(json) !== bytes.readUInt32LE(at + mark.length + 4)) return undefined
  return { record: v.parse(journalRecord, JSON.parse(json.toString())), end }
}
