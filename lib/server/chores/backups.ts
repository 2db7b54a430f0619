import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../async/clock.ts'
import { CannotStart } from '../../exit.ts'
import type { ServerOptions } from '../../options.ts'
import { type Logger, noteOf } from '../watch/log.ts'
import type { BackupState } from '../watch/metrics.ts'

/**
 * Makes a backup in a new file and verifies it by restoring it elsewhere, off the event loop. Rejects with
 * the reason if either fails.
 */
export type TakeBackup = (file: string, signal: AbortSignal) => Promise<void>

interface BackupDeps {
  clock: Clock
  now: () => number
  log: Logger
  take: TakeBackup
}

const hourMs = 60 * 60 * 1000
/** The retry delay after a failure, unless the next scheduled time is earlier. */
const againMs = hourMs

/** The scheduled backups; undefined if there are none. Throws CannotStart if they cannot be set up. */
export function openBackups(
  { backupEvery, backupKeep, backupTo }: Pick<ServerOptions, 'backupEvery' | 'backupKeep' | 'backupTo'>,
  deps: Omit<BackupDeps, 'take'> & { take: TakeBackup | undefined }
): Backups | undefined {
  const { take } = deps
  if (backupEvery === undefined) return undefined
  if (!take) throw new CannotStart('backupEvery needs takeBackup, which takes a backup.')
  try {
    mkdirSync(backupTo, { recursive: true, mode: 0o700 })
    return new Backups({ ...deps, take }, { everyMs: backupEvery * hourMs, keep: backupKeep, directory: backupTo })
  } catch (error) {
    throw new CannotStart(`Backups cannot be written to ${backupTo}; choose another place with --backup-to.`, undefined, { cause: error })
  }
}

export class Backups {
  readonly #deps: BackupDeps
  readonly #everyMs: number
  readonly #keep: number
  readonly #directory: string
  readonly #ending = new AbortController()
  #cancel: () => void
  #running: Promise<void> = Promise.resolve()
  #so: BackupState

  constructor(deps: BackupDeps, { everyMs, keep, directory }: { everyMs: number; keep: number; directory: string }) {
    this.#deps = deps
    this.#everyMs = everyMs
    this.#keep = keep
    this.#directory = directory
    const goodAt = timeOf(backupsIn(directory).at(-1))
    this.#so = { last: goodAt === undefined ? 'none' : 'ok', goodAt, taken: { ok: 0, failed: 0 } }
    // The first is taken at once. A restarted server keeps the schedule; a changed clock cannot delay it for years.
    const sinceMs = goodAt === undefined ? everyMs : Math.max(deps.now() - goodAt, 0)
    this.#cancel = this.#later(Math.max(everyMs - sinceMs, 0))
  }

  state(): BackupState {
    return this.#so
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#cancel()
    await this.#running
    this.#cancel()
  }

  #later(ms: number): () => void {
    return this.#deps.clock.after(ms, () => {
      this.#running = this.#take().then(waitMs => {
        this.#cancel = this.#later(waitMs)
      })
    })
  }

  async #take(): Promise<number> {
    const { now, log, take } = this.#deps
    const at = now()
    try {
      await take(join(this.#directory, nameAt(at)), this.#ending.signal)
      this.#so = { last: 'ok', goodAt: at, taken: { ...this.#so.taken, ok: this.#so.taken.ok + 1 } }
      this.#removeOldest()
      return this.#everyMs
    } catch (error) {
      if (!this.#ending.signal.aborted) log.error({ error: noteOf(error) }, 'The backup failed; older backups are kept')
      this.#so = { ...this.#so, last: 'failed', taken: { ...this.#so.taken, failed: this.#so.taken.failed + 1 } }
      return Math.min(againMs, this.#everyMs)
    }
  }

  #removeOldest(): void {
    const names = backupsIn(this.#directory)
    for (const name of names.slice(0, Math.max(names.length - this.#keep, 0))) rmSync(join(this.#directory, name), { force: true })
  }
}

const ours = /^afield-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)\.auto\.backup$/

/** The scheduled backups, oldest first; never one that was made by hand. */
function backupsIn(directory: string): string[] {
  return readdirSync(directory)
    .filter(name => ours.test(name))
    .toSorted()
}

function nameAt(at: number): string {
  return `afield-${new Date(at).toISOString().replace(/\..*/, '').replaceAll(':', '')}.auto.backup`
}

function timeOf(name: string | undefined): number | undefined {
  const [, day, hour, minute, second] = ours.exec(name ?? '') ?? []
  return day === undefined ? undefined : Date.parse(`${day}T${hour}:${minute}:${second}Z`)
}
