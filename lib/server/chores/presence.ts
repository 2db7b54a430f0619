import { every, type Repeating } from '../../async/every.ts'
import { accountTopic } from '../../bus/bus.ts'
import type { AccountId, SessionId } from '../../protocol/wire/ids.ts'
import type { RowRef } from '../../store/rows.ts'
import type { Caller, Deps } from '../deps.ts'
import type { Claim } from './claim.ts'

const trustClocksWithinMs = 10 * 60_000
const deafAfterEndMs = 60_000
const checkOwnerEveryMs = 30_000
const writeEveryMs = 30_000
const flushEveryMs = 5_000
const sweepEveryMs = 60_000
/** A lost connection returns sooner; a computer that sleeps or lost power does not. */
const droppedAfterMs = 5 * 60_000
/** After an account was told of a computer that went offline, no further notice of that kind for this long. */
const notAgainWithinMs = 15 * 60_000
const silentForMs = 10 * 60_000
/** A row that sends keepalives is never recorded as seen longer ago, whatever its sender's clock or this machine's says. */
const mostLagMs = 9 * 60_000
/** If two sweeps differ by more than this on the two clocks, the store's date was changed. */
const driftMs = 30_000

/**
 * What is known of a row with keepalives: its account, and when it was last received, written, ended; all
 * by the monotonic clock.
 */
interface Life {
  checkedAt: number
  heardAt: number
  writtenAt: number
  /** Its agent was working at the last keepalive. */
  isWorking: boolean
  /**
   * When the end was received, and the sender's own time of it, if given: keepalives sent before do not
   * revive the row.
   */
  ended: { time: number | undefined; heardAt: number } | undefined
  /**
   * Its latest announced or stored time, since devices ignore older ones: a sender's clock may lag, ours
   * may be set back.
   */
  announcedAt: number
}

type Mark = { account: AccountId; row: RowRef; active: boolean; at: number }

type PresenceDeps = Pick<Deps, 'store' | 'bus' | 'now' | 'time' | 'clock'> & {
  claim: Claim
  /** Whether the row's own process is connected to another instance. */
  isElsewhere: (account: AccountId, row: RowRef) => Promise<boolean>
  /**
   * The computer of a working agent went offline and did not return; one notice for all that an account
   * loses at a time.
   */
  onDropped?: (account: AccountId) => void
}

/**
 * Presence. Every accepted keepalive is forwarded at once; the store gets it at most every 30 s per row. A
 * foreign row is silently skipped.
 */
export class Presence {
  readonly #deps: PresenceDeps
  readonly #dropped = new Map<AccountId, number>()
  readonly #idleAfterMs: number
  readonly #lives = new Map<string, Life>()
  readonly #marks = new Map<string, Mark>()
  readonly #sweeps: Repeating
  readonly #timers = new Set<() => void>()
  #flushing = false
  readonly #mostRemembered: number
  #lastSweep: { wall: number; at: number }
  /**
   * After the date was changed, earlier stored times say nothing about silence until everyone alive has
   * sent a keepalive again.
   */
  #sweepsFrom = Number.NEGATIVE_INFINITY

  constructor(deps: PresenceDeps, { idleAfterMs, mostRemembered = 50_000 }: { idleAfterMs: number; mostRemembered?: number }) {
    this.#deps = deps
    this.#idleAfterMs = idleAfterMs
    this.#mostRemembered = mostRemembered
    this.#lastSweep = { wall: deps.time(), at: deps.clock.now() }
    // Best effort: a store that fails here reports it where it matters.
    this.#sweeps = every(
      deps.clock,
      sweepEveryMs,
      () => this.#sweep(),
      () => {}
    )
  }

  async alive(caller: Caller, row: RowRef, beat: { time: number; thinking: boolean }): Promise<void> {
    const life = await this.#lifeOf(caller.account, row)
    if (!life || this.#isStraggler(life, beat.time)) return
    const now = this.#deps.clock.now()
    const at = announcedTimeOf(life, this.#seenAt(beat.time))
    life.ended = undefined
    life.heardAt = now
    life.isWorking = beat.thinking
    this.#signal(caller.account, row, { active: true, at, thinking: beat.thinking })
    if (now - life.writtenAt < writeEveryMs) return
    life.writtenAt = now
    this.#mark({ account: caller.account, row, active: true, at })
  }

  async sessionEnded(caller: Caller, session: SessionId, time?: number): Promise<void> {
    const row: RowRef = { of: 'session', id: session }
    const life = await this.#lifeOf(caller.account, row)
    if (!life) return
    const now = this.#deps.now()
    const endedAt = this.#deps.clock.now()
    life.ended = { time, heardAt: endedAt }
    await this.#markInactive(caller.account, row, life, { at: time === undefined ? now : plausible(time, now), since: endedAt })
  }

  /** A machine connected: its scope is the proof, no keepalive is needed. */
  async machineCame(account: AccountId, row: RowRef): Promise<void> {
    const life = await this.#lifeOf(account, row)
    if (!life) return
    life.heardAt = this.#deps.clock.now()
    life.writtenAt = life.heardAt
    const at = announcedTimeOf(life, this.#seenAt(this.#deps.now()))
    // Lists say so too from then on; with a full disk, connected clients are still told.
    await this.#deps.store.markActive([{ account, row, active: true, at }]).catch(() => {})
    this.#signal(account, row, { active: true, at, thinking: false })
  }

  async machineLeft(account: AccountId, row: RowRef): Promise<void> {
    const since = this.#deps.clock.now()
    const life = await this.#lifeOf(account, row)
    if (life && !(await this.#deps.isElsewhere(account, row))) await this.#markInactive(account, row, life, { at: this.#deps.now(), since })
  }

  /** The last connection of a session closed. It may only have lost its network, so it gets time to reconnect. */
  sessionLeft(account: AccountId, row: RowRef): void {
    const leftAt = this.#deps.clock.now()
    const at = this.#deps.now()
    this.#later(this.#idleAfterMs, async () => {
      const life = this.#lives.get(keyOf(account, row))
      if (!life || life.ended || (await this.#deps.isElsewhere(account, row)) || (await this.#wasSeenSince(account, row, at))) return
      if (!life.ended) await this.#markInactive(account, row, life, { at, since: leftAt })
    })
    this.#later(droppedAfterMs, () => this.#tellDropped(account, row, { at, leftAt }))
  }

  /** Never so far behind the store's time that a sweep, perhaps of another instance, would take it for silence. */
  #seenAt(time: number): number {
    return Math.max(plausible(time, this.#deps.now()), this.#deps.time() - mostLagMs)
  }

  /** Whether another instance wrote a later keepalive; while the bus is down, it cannot say so itself. */
  async #wasSeenSince(account: AccountId, row: RowRef, at: number): Promise<boolean> {
    const found = row.of === 'session' ? await this.#deps.store.findSession(account, row.id) : 'missing'
    return found !== 'missing' && found.active && found.activeAt > at
  }

  async #tellDropped(account: AccountId, row: RowRef, left: { at: number; leftAt: number }): Promise<void> {
    if (row.of !== 'session') return
    const life = this.#lives.get(keyOf(account, row))
    if (!life?.isWorking || life.ended || life.heardAt > left.leftAt) return
    const found = await this.#deps.store.findSession(account, row.id)
    // It may have reconnected to another instance.
    if (found === 'missing' || found.active || found.activeAt > left.at) return
    const now = this.#deps.clock.now()
    if (now - (this.#dropped.get(account) ?? never) < notAgainWithinMs) return
    this.#dropped.set(account, now)
    this.#later(notAgainWithinMs, async () => void this.#dropped.delete(account))
    this.#deps.onDropped?.(account)
  }

  /** A loaded session is wanted again, or its process connected: an earlier end no longer counts. */
  listenAgain(account: AccountId, session: SessionId): void {
    const life = this.#lives.get(keyOf(account, { of: 'session', id: session }))
    if (life) life.ended = undefined
  }

  forget(account: AccountId, row: RowRef): void {
    this.#lives.delete(keyOf(account, row))
    this.#marks.delete(keyOf(account, row))
  }

  /** Writes what is still unwritten and stops all timers. */
  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel()
    await this.#sweeps.close()
    this.#timers.clear()
    await this.#flush()
  }

  #isStraggler(life: Life, time: number): boolean {
    if (!life.ended || this.#deps.clock.now() - life.ended.heardAt >= deafAfterEndMs) return false
    // Someone else ended it: there is no sender's timestamp to tell what was sent before.
    return life.ended.time === undefined || time <= life.ended.time
  }

  async #lifeOf(account: AccountId, row: RowRef): Promise<Life | undefined> {
    const key = keyOf(account, row)
    const now = this.#deps.clock.now()
    const known = this.#lives.get(key)
    if (known && now - known.checkedAt < checkOwnerEveryMs) return this.#remember(key, known)

    const { store } = this.#deps
    const found = row.of === 'session' ? await store.findSession(account, row.id) : await store.findMachine(account, row.id)
    if (found === 'missing') {
      this.#lives.delete(key)
      return undefined
    }
    // Another keepalive may have arrived while the store was queried; its times must not be lost.
    const life = this.#lives.get(key) ?? {
      checkedAt: now,
      heardAt: never,
      writtenAt: never,
      isWorking: false,
      ended: undefined,
      announcedAt: never
    }
    life.announcedAt = Math.max(life.announcedAt, found.activeAt)
    life.checkedAt = now
    return this.#remember(key, life)
  }

  /** The most recent are kept: a forgotten one is only looked up and written once more. */
  #remember(key: string, life: Life): Life {
    this.#lives.delete(key)
    this.#lives.set(key, life)
    const [oldest] = this.#lives.size > this.#mostRemembered ? this.#lives.keys() : []
    if (oldest !== undefined) this.#lives.delete(oldest)
    return life
  }

  /** A row with a keepalive after `since` is back, even if that came during the write. */
  async #markInactive(account: AccountId, row: RowRef, life: Life, { at, since }: { at: number; since: number }): Promise<void> {
    if (life.heardAt > since) return
    const announcedAt = announcedTimeOf(life, at)
    life.writtenAt = never
    this.#marks.delete(keyOf(account, row))
    await this.#deps.store.markActive([{ account, row, active: false, at: announcedAt }])
    if (life.heardAt <= since) this.#signal(account, row, { active: false, at: announcedAt, thinking: false })
  }

  #mark(mark: Mark): void {
    this.#marks.set(keyOf(mark.account, mark.row), mark)
    if (this.#flushing) return
    this.#flushing = true
    this.#later(flushEveryMs, async () => {
      this.#flushing = false
      await this.#flush()
    })
  }

  async #flush(): Promise<void> {
    const marks = [...this.#marks.values()]
    this.#marks.clear()
    // Best effort: the next keepalive makes up for a failed write.
    if (marks.length > 0) await this.#deps.store.markActive(marks).catch(() => {})
  }

  async #sweep(): Promise<void> {
    if (this.#mayTellSilence() && (await this.#deps.claim('sweep-presence'))) {
      const swept = await this.#deps.store.sweepActive(this.#deps.time() - silentForMs)
      for (const { account, row, activeAt } of swept) this.#signal(account, row, { active: false, at: activeAt, thinking: false })
    }
    await this.#deps.store.sweepPairings(this.#deps.time())
  }

  #mayTellSilence(): boolean {
    const now = { wall: this.#deps.time(), at: this.#deps.clock.now() }
    const drift = now.wall - this.#lastSweep.wall - (now.at - this.#lastSweep.at)
    this.#lastSweep = now
    if (Math.abs(drift) > driftMs) this.#sweepsFrom = now.at + silentForMs
    return now.at >= this.#sweepsFrom
  }

  #signal(account: AccountId, row: RowRef, state: { active: boolean; at: number; thinking: boolean }): void {
    this.#deps.bus.publish(accountTopic(account), {
      type: 'signal',
      audience: 'apps',
      skip: undefined,
      signal: { type: 'presence', row, ...state }
    })
  }

  #later(ms: number, run: () => Promise<void>): void {
    const cancel = this.#deps.clock.after(ms, () => {
      this.#timers.delete(cancel)
      // Presence is best effort; a store that fails here reports it where it matters.
      run().catch(() => {})
    })
    this.#timers.add(cancel)
  }
}

const never = Number.NEGATIVE_INFINITY

function announcedTimeOf(life: Life, at: number): number {
  life.announcedAt = Math.max(life.announcedAt, at)
  return life.announcedAt
}

// A time that is far off is not usable: now is assumed.
function plausible(time: number, now: number): number {
  return time > now || time < now - trustClocksWithinMs ? now : time
}

function keyOf(account: AccountId, row: RowRef): string {
  return `${account} ${row.of} ${row.id}`
}
