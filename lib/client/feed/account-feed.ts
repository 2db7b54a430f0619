import type { Clock } from '../../async/clock.ts'
import type { MachineId, SessionId } from '../../protocol/wire/ids.ts'
import type { MachineRecord, SessionRecord } from '../../protocol/wire/records.ts'
import type { UpdateBody } from '../../protocol/wire/updates.ts'
import { Refused } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'
import { createRetrier, type Retrier } from '../link/retry.ts'
import type { LiveSocket } from '../link/socket.ts'
import { ChangeReader } from './change-reader.ts'
import { readOlderSessions } from './older-sessions.ts'
import {
  AccountRows,
  type AccountSession,
  idOf,
  isRowUpdate,
  Meanwhile,
  mostListedSessions,
  type RowChange,
  type SettingsCell
} from './rows.ts'

export type { AccountSession, SettingsCell } from './rows.ts'

export type AccountChange =
  /**
   * Everything missed was read; the changed rows were passed on one by one before. `isWhole`: every
   * session of the account is known; otherwise those unchanged for long are still being read, and this
   * follows once more.
   */
  | { type: 'listed'; isWhole: boolean }
  /** Some of those unchanged for long; they were passed on one by one just before. */
  | { type: 'older'; sessions: readonly SessionId[] }
  /**
   * The server was restored to an older state: cached messages and versions belong to another epoch.
   * The current rows follow.
   */
  | { type: 'started-over' }
  | RowChange

export type AccountFeedState =
  | { type: 'catching-up' }
  | { type: 'live' }
  /** No link. The rows show the last known state. */
  | { type: 'away' }
  /** Final: the token is invalid. */
  | { type: 'ended'; refusal: Refused }
  | { type: 'closed' }

/** Encrypted rows as the server has them. A cell never goes back to an older version. */
export interface AccountFeed {
  readonly sessions: ReadonlyMap<SessionId, AccountSession>
  readonly machines: ReadonlyMap<MachineId, MachineRecord>
  /** Undefined until first read. */
  readonly settings: SettingsCell | undefined
  readonly state: AccountFeedState
  /** Reads what changed, as every connect does; from a server without that route, all lists. */
  refresh(): void
  /**
   * What this client itself wrote or opened, since the server does not send it back. Older versions
   * change nothing.
   */
  take(row: { session: SessionRecord } | { machine: MachineRecord } | { settings: SettingsCell }): void
  close(): void
}

interface AccountFeedOptions {
  rest: Pick<Rest, 'call'>
  /** A connection of scope `app`. */
  socket: Pick<LiveSocket, 'state' | 'onState' | 'onUpdate' | 'onEphemeral'>
  onChange(change: AccountChange): void
  onState?: ((state: AccountFeedState) => void) | undefined
  clock?: Clock | undefined
  random?: (() => number) | undefined
}

/** The sessions, machines and settings of the account, kept current across lost frames and disconnects. */
export function openAccountFeed(options: AccountFeedOptions): AccountFeed {
  return new Account(options)
}

class Account implements AccountFeed {
  state: AccountFeedState

  readonly #options: AccountFeedOptions
  readonly #rows: AccountRows
  readonly #end = new AbortController()
  readonly #retrier: Retrier
  readonly #reader: ChangeReader
  readonly #unlisten: (() => void)[]
  /** While lists or changes are being read. */
  #meanwhile: Meanwhile | undefined
  #mustRead = false
  /** Sessions removed while older ones are being read; undefined at other times. */
  #removedMeanwhile: Set<string> | undefined
  /** Rows that reading did not return: reading again would not either. */
  readonly #strangers = new Set<string>()

  constructor(options: AccountFeedOptions) {
    const { socket, onChange, clock, random } = options
    this.#options = options
    this.#rows = new AccountRows(onChange)
    this.#retrier = createRetrier({ signal: this.#end.signal, clock, random })
    this.#reader = new ChangeReader(options.rest, this.#retrier)
    this.state = { type: socket.state.type === 'live' ? 'catching-up' : 'away' }
    this.#unlisten = [
      socket.onUpdate(({ body, createdAt }) => this.#hear(body, createdAt)),
      socket.onEphemeral(ephemeral => {
        if ('id' in ephemeral) this.#meanwhile?.seen.add(ephemeral.id)
        this.#rows.hearPresence(ephemeral)
      }),
      socket.onState(state => {
        if (state.type !== 'live') return this.#settle()
        // Requests hanging on the lost connection are made again over the new one.
        this.#retrier.restart()
        this.#strangers.clear()
        this.#reader.reconnected()
        this.refresh()
      })
    ]
    this.refresh()
  }

  get sessions() {
    return this.#rows.sessions
  }
  get machines() {
    return this.#rows.machines
  }
  get settings() {
    return this.#rows.settings
  }

  refresh(): void {
    if (this.#end.signal.aborted) return
    this.#mustRead = true
    if (!this.#meanwhile) {
      this.#catchUp().then(
        () => this.#settle(),
        error => this.#fail(error)
      )
    }
    this.#settle()
  }

  take(row: { session: SessionRecord } | { machine: MachineRecord } | { settings: SettingsCell }): void {
    if ('settings' in row) {
      this.#rows.mergeSettings(row.settings)
    } else if ('session' in row) {
      this.#meanwhile?.add(row.session.id)
      this.#rows.mergeSession(row.session)
    } else {
      this.#meanwhile?.add(row.machine.id)
      this.#rows.mergeMachine(row.machine)
    }
  }

  close(): void {
    if (!this.#end.signal.aborted) this.#finish({ type: 'closed' }, new Error('the account feed was closed'))
  }

  #hear(body: UpdateBody, at: number): void {
    if (!isRowUpdate(body)) return
    if (body.t === 'delete-session') this.#removedMeanwhile?.add(body.sid)
    const isKnown = this.#rows.apply(body, at)
    if (this.#meanwhile) {
      this.#meanwhile.hear(body, isKnown)
      return
    }
    const id = idOf(body)
    if (isKnown || this.#strangers.has(id)) return
    this.#strangers.add(id)
    this.refresh()
  }

  async #catchUp(): Promise<void> {
    while (this.#mustRead) {
      this.#mustRead = false
      const meanwhile = new Meanwhile()
      this.#meanwhile = meanwhile
      await this.#reader.read({
        take: page => this.#rows.takeChanges(page, meanwhile),
        startOver: () => this.#startOver(),
        readAll: () => this.#readLists(meanwhile)
      })
      this.#options.onChange({ type: 'listed', isWhole: this.#removedMeanwhile === undefined })
    }
    this.#meanwhile = undefined
  }

  #startOver(): void {
    this.#rows.forget()
    this.#options.onChange({ type: 'started-over' })
  }

  async #readLists(meanwhile: Meanwhile): Promise<void> {
    const { rest } = this.#options
    const [{ sessions }, machines, { settings, settingsVersion }] = await this.#retrier.attempt(signal =>
      Promise.all([
        rest.call('listSessions', {}, { signal }),
        rest.call('listMachines', {}, { signal }),
        rest.call('readSettings', {}, { signal })
      ])
    )
    this.#rows.takeLists({ sessions, machines, settings: { value: settings, version: settingsVersion } }, meanwhile)
    if (sessions.length >= mostListedSessions && !this.#removedMeanwhile) this.#readOlder().catch(error => this.#fail(error))
  }

  /** In the background: people look for the newest first. */
  async #readOlder(): Promise<void> {
    const removed = new Set<string>()
    this.#removedMeanwhile = removed
    const { rest, clock, random, onChange } = this.#options
    const retrier = createRetrier({ signal: this.#end.signal, clock, random })
    try {
      for await (const page of readOlderSessions(rest, retrier)) {
        const unknown = page.filter(({ id }) => !this.#rows.sessions.has(id) && !removed.has(id))
        for (const session of unknown) this.#rows.mergeSession(session)
        onChange({ type: 'older', sessions: unknown.map(({ id }) => id) })
      }
    } finally {
      this.#removedMeanwhile = undefined
    }
    if (!this.#meanwhile) onChange({ type: 'listed', isWhole: true })
  }

  #settle(): void {
    if (this.#end.signal.aborted) return
    const isLive = this.#options.socket.state.type === 'live'
    const type = !isLive ? 'away' : this.#meanwhile ? 'catching-up' : 'live'
    if (this.state.type === type) return
    this.state = { type }
    this.#options.onState?.(this.state)
  }

  #fail(error: unknown): void {
    if (this.#end.signal.aborted) return
    if (!(error instanceof Refused)) throw error
    this.#finish({ type: 'ended', refusal: error }, error)
  }

  #finish(state: AccountFeedState, reason: Error): void {
    this.#end.abort(reason)
    for (const unlisten of this.#unlisten) unlisten()
    this.state = state
    this.#options.onState?.(state)
  }
}
