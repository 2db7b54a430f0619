import { pause } from '../../../async/pause.ts'
import { OutboxFull } from '../../../client/outbox/outbox.ts'
import type { MessageBody } from '../../../protocol/sealed/messages.ts'
import type { AgentState, DiskTrouble } from '../../../protocol/sealed/session.ts'
import { ownWords } from '../../uplink/outbox.ts'
import type { Uplink } from '../../uplink/uplink.ts'

/** Writes the session's output to disk. */
export interface Writer {
  /** While something cannot be stored: why. */
  readonly trouble: string | undefined
  /** The disk status for devices. */
  readonly diskTrouble: DiskTrouble | undefined
  /**
   * On disk when it resolves. If the disk is full, the agent's events wait in memory, so that no output is lost, and
   * devices learn it from the agent state, which needs no local disk. If the queue for the server exceeds its limit, the agent continues, its output is not stored, and the history says where [W3].
   */
  write(body: MessageBody, localId?: string): Promise<void>
  /** Notes of the session are waiting for the disk, and why; undefined once they are stored. Meanwhile the agent gets no prompts. */
  notesWait(why: unknown): void
  /** Some output was dropped after all. */
  dropped(count: number): void
  /** The server has everything. */
  drained(): void
  /** The session ends: dropped output is reported, even if the server does not have everything. */
  finish(): Promise<void>
  /** Stops waiting for the disk. */
  abandon(): void
}

interface WriterDeps {
  put: Uplink['put']
  publish(change: (state: AgentState) => AgentState): void
  onChange(): void
  /** In ms since 1970. */
  now?: () => number
}

const retryDiskMs = 1000
const tooMuch = 'too much data was waiting for the server'
const fullSentence = 'The disk is full, so the agent’s output is waiting: free some space.'

export function createWriter({ put, publish, onChange, now = Date.now }: WriterDeps): Writer {
  const end = new AbortController()
  let ofDisk: string | undefined
  /** How many messages and whether notes are waiting for the disk, and the status for devices. */
  let stuck = 0
  let areNotesStuck = false
  let didWordsWait = false
  let diskTrouble: DiskTrouble | undefined
  let ofRoom: string | undefined
  /** The history says that output is missing, and nothing was added since. */
  let isGap = false
  let skipped = 0

  const tell = (disk: string | undefined, room: string | undefined) => {
    if (ofDisk === disk && ofRoom === room) return
    ofDisk = disk
    ofRoom = room
    onChange()
  }
  const showDisk = (next: DiskTrouble | undefined) => {
    diskTrouble = next
    publish(state => ({ ...state, diskTrouble: next }))
  }
  const diskFailed = (error: unknown) => {
    const why = isFull(error) ? 'full' : 'failing'
    tell(why === 'full' ? fullSentence : `Nothing can be written to disk: ${reasonOf(error)}. The agent’s output is waiting.`, ofRoom)
    if (diskTrouble?.why !== why) showDisk({ since: diskTrouble?.since ?? now(), why })
  }
  const freed = async () => {
    // A small one may fit where a larger one still waits.
    if (stuck > 0 || areNotesStuck) return
    const { since, why } = diskTrouble ?? { since: now(), why: 'failing' }
    tell(undefined, ofRoom)
    showDisk(undefined)
    const was = why === 'full' ? 'was full' : 'could not be written to'
    const next = didWordsWait ? 'Output from the meantime follows now.' : 'The session continues.'
    const sentence = `The disk of this computer ${was} for ${forHowLong(now() - since)}. ${next}`
    didWordsWait = false
    await write(ownWords(sentence))
  }
  const wordsFreed = () => {
    stuck -= 1
    return freed()
  }
  // Reported where output is missing, although the disk is full: it must be stored before this process dies.
  const sayMissing = async () => {
    if (isGap) return
    isGap = true
    const sentence = `Messages of the agent are missing here: ${tooMuch}.`
    await put(ownWords(sentence), undefined, { beyondLimit: true }).catch(() => (isGap = false))
  }
  const saySkipped = async () => {
    const count = skipped
    skipped = 0
    const were = count === 1 ? 'thought or plan was' : 'thoughts and plans were'
    const sentence = `Before this, ${count} ${were} left out: ${tooMuch}.`
    if (count > 0) await put(ownWords(sentence), undefined, { beyondLimit: true }).catch(() => (skipped += count))
  }
  const write: Writer['write'] = async (body, localId) => {
    let isStuck = false
    for (;;) {
      try {
        await put(body, localId)
        isGap = false
        if (isStuck) await wordsFreed()
        return
      } catch (error) {
        if (end.signal.aborted) return
        if (error instanceof OutboxFull) {
          if (isStuck) await wordsFreed()
          await sayMissing()
          return tell(ofDisk, 'Too much data is waiting for the server: new agent output is not stored.')
        }
        if (!isStuck) stuck += 1
        isStuck = true
        didWordsWait = true
        diskFailed(error)
        await pause(retryDiskMs, { signal: end.signal }).catch(() => {})
      }
    }
  }
  return {
    get trouble() {
      return ofDisk ?? ofRoom
    },
    get diskTrouble() {
      return diskTrouble
    },
    write,
    notesWait(why) {
      const wereStuck = areNotesStuck
      areNotesStuck = why !== undefined
      if (areNotesStuck) diskFailed(why)
      else if (wereStuck) void freed()
    },
    dropped(count) {
      skipped += count
      tell(ofDisk, 'Too much data is waiting for the server: the oldest thoughts and plans are dropped.')
    },
    drained() {
      if (ofRoom === undefined) return
      tell(ofDisk, undefined)
      void saySkipped()
    },
    finish: saySkipped,
    abandon: () => end.abort()
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function forHowLong(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  return minutes < 1 ? 'a moment' : minutes === 1 ? '1 minute' : minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}
