import type { Clock } from '../../async/clock.ts'
import { withDeadline } from '../../async/deadline.ts'
import { Deadlines } from '../../async/deadlines.ts'
import type { Repeating } from '../../async/every.ts'
import { type Audience, accountTopic, type Bus, type BusEvent, instanceTopic, revocationTopic, type Topic } from '../../bus/bus.ts'
import type { AccountId, ConnectionId } from '../../protocol/wire/ids.ts'
import type { RowRef } from '../../store/rows.ts'
import { type Store, StoreBusy } from '../../store/store.ts'
import { Budget } from '../budget.ts'
import { AccountUpdates, type AccountUpdatesDeps, type ChangeEvent, mostQueuedBytes, type Receivers } from './account-updates.ts'
import { answerWithinMs, type CalleeRegistry, createCalleeRegistry, EndedCalls } from './callees.ts'
import { watchClocks } from './clock-watch.ts'
import type { Connection } from './connection.ts'
import { eventFrame, type Frame, isAfieldOnly, signalFrame, updateFrames } from './frames.ts'
import { HeardClock } from './heard-clock.ts'
import { MissedChanges } from './missed.ts'
import { OtherInstances } from './other-instances.ts'
import type { StoredRows } from './stored-change.ts'

/** A bus that takes longer than this to subscribe has failed. */
const subscribeWithinMs = 10_000

/** After lost events, connections close over a time that grows with their number, so that not all reconnect at once. */
const msPerConnection = 2
const longestSpreadMs = 10_000

/** An account with connections at this instance. */
interface LiveAccount {
  readonly id: AccountId
  readonly connections: Set<Connection>
  /** How many connections wait for `ready` before they are added. */
  connecting: number
  /** Once one of its connections, at any instance, has registered a method. */
  callees: CalleeRegistry | undefined
  readonly updates: AccountUpdates
  readonly subscription: Promise<() => Promise<void>>
  /** Settles as the subscription does, but not later than a client waits for it. */
  readonly ready: Promise<unknown>
}

interface HubDeps {
  bus: Bus
  store: StoredRows & Pick<Store, 'canStoreUntold'>
  clock: Clock
  newId: () => string
  /** Wall clock, for when something missed is sent. */
  now?: () => number
  random?: () => number
  onError: (error: unknown) => void
}

/** The live connections of this instance. Sends each the frames that it may see, in the order that `AccountUpdates` gives them. */
export class Hub {
  readonly #answerDeadlines: Deadlines
  readonly #endedCalls: EndedCalls
  readonly #deps: HubDeps
  readonly #accounts = new Map<AccountId, LiveAccount>()
  readonly #updateIdPrefix: string
  #updatesMade = 0
  framesSent = 0
  gapsFilled = 0
  readonly #instance: string
  readonly #others: OtherInstances
  /** Connections that will be closed, because events for them may have been lost. */
  readonly #leaving = new Map<Connection, () => void>()
  #leaveRevocations: (() => Promise<void>) | undefined
  #stopHearingLosses = () => {}
  #clockWatch: Repeating | undefined
  readonly #updatesDeps: AccountUpdatesDeps

  private constructor(deps: HubDeps, instance: string) {
    this.#deps = deps
    this.#instance = instance
    this.#others = new OtherInstances(deps, instance)
    this.#answerDeadlines = new Deadlines(deps.clock, answerWithinMs)
    this.#endedCalls = new EndedCalls(this.#answerDeadlines)
    this.#updateIdPrefix = instance.slice(0, 6)
    const { store, now = Date.now, onError } = deps
    this.#updatesDeps = {
      store,
      missed: new MissedChanges(store),
      memory: new Budget(mostQueuedBytes),
      now,
      send: (to, event) => this.#sendChange(to, event),
      onGap: () => {
        this.gapsFilled += 1
      },
      reconnect: reconnectAll,
      onLost: ({ id }) => this.#lose(accountTopic(id)),
      onError
    }
  }

  /** Resolves once it is subscribed to ended tokens and to answers of others; rejects if the bus fails that. */
  static async open(deps: HubDeps, instance: string): Promise<Hub> {
    const hub = new Hub(deps, instance)
    await hub.#others.open()
    hub.#stopHearingLosses = deps.bus.onLost(topic => hub.#lose(topic))
    hub.#leaveRevocations = await deps.bus.subscribe(revocationTopic, event => {
      if (event.type !== 'token-revoked') return
      for (const connection of hub.#all()) if (connection.token === event.token) connection.close('auth-revoked')
    })
    // Last: what fails above leaves no timer.
    hub.#watchClocks()
    return hub
  }

  /**
   * Once resolved, the connection misses nothing published later. Rejects if the bus fails the
   * subscription; the connection is not attached then, and the next attempt asks the bus again.
   */
  async attach(connection: Connection): Promise<void> {
    const live = this.#accounts.get(connection.account) ?? this.#open(connection.account)
    live.connecting += 1
    try {
      await live.ready
      live.connections.add(connection)
    } finally {
      live.connecting -= 1
    }
  }

  detach(connection: Connection): void {
    this.#leaving.get(connection)?.()
    this.#leaving.delete(connection)
    const live = this.#accounts.get(connection.account)
    if (!live?.connections.delete(connection)) return
    live.callees?.drop(connection)
    if (live.connections.size === 0 && live.connecting === 0) this.#drop(live)
  }

  register(connection: Connection, method: string): void {
    const live = this.#accounts.get(connection.account)
    if (live) this.#calleesOf(live).register(connection, method)
  }

  unregister(connection: Connection, method: string): void {
    this.#accounts.get(connection.account)?.callees?.unregister(connection, method)
    connection.send(eventFrame('rpc-unregistered', { method }))
  }

  /** Whether a process of the row itself is connected here. */
  hasOwn(account: AccountId, row: RowRef): boolean {
    for (const { scope, isPresent } of this.#accounts.get(account)?.connections ?? []) if (isPresent && isScopedTo(scope, row)) return true
    return false
  }

  get size(): number {
    let size = 0
    for (const live of this.#accounts.values()) size += live.connections.size
    return size
  }

  /** Whether a process of the row itself is connected to another instance. */
  async isElsewhere(account: AccountId, row: RowRef): Promise<boolean> {
    return this.#others.has(account, row)
  }

  /** Whether an app of the account is in use, at any instance; an app that does not report counts as not in use. */
  async isWatched(account: AccountId): Promise<boolean> {
    return this.#isWatchedHere(account) || this.#others.has(account, 'watching-app')
  }

  #isWatchedHere(account: AccountId): boolean {
    const now = this.#deps.clock.now()
    for (const { scope, watchedUntil } of this.#accounts.get(account)?.connections ?? [])
      if (scope === 'app' && now < watchedUntil) return true
    return false
  }

  /** The live connections by what they may see. */
  connections(): { app: number; session: number; machine: number } {
    const count = { app: 0, session: 0, machine: 0 }
    for (const { scope } of this.#all()) count[scope === 'app' ? scope : scope.of] += 1
    return count
  }

  /** Closes every connection within some seconds, so that its client connects and proves itself again. */
  reconnectAll(): void {
    this.#lose(undefined)
  }

  closeConnections(): void {
    for (const connection of [...this.#all()]) connection.close('server-shutdown')
  }

  async close(): Promise<void> {
    this.closeConnections()
    this.#stopHearingLosses()
    for (const cancel of this.#leaving.values()) cancel()
    this.#leaving.clear()
    this.#answerDeadlines.close()
    await this.#clockWatch?.close()
    await this.#others.close()
    await this.#leaveRevocations?.()
  }

  *#all(): Iterable<Connection> {
    for (const live of this.#accounts.values()) yield* [...live.connections]
  }

  #open(account: AccountId): LiveAccount {
    const { bus, clock } = this.#deps
    const connections = new Set<Connection>()
    const topic = accountTopic(account)
    const subscribe = async () => bus.subscribe(topic, event => this.#hear(live, event))
    const subscription = subscribe()
    const heard = this.#hasWatch ? new HeardClock() : undefined
    const begin = async () => {
      await subscription
      if (heard) await this.#begin(account, heard)
    }
    const live: LiveAccount = {
      id: account,
      connections,
      connecting: 0,
      callees: undefined,
      updates: new AccountUpdates({ id: account, connections }, heard, this.#updatesDeps),
      subscription,
      ready: withDeadline(subscribeWithinMs, begin, { clock })
    }
    this.#accounts.set(account, live)
    // The next client tries the bus again; waiting ones get the result of the same promise.
    live.ready.catch(() => this.#drop(live))
    return live
  }

  #calleesOf(live: LiveAccount): CalleeRegistry {
    live.callees ??= createCalleeRegistry({
      bus: this.#deps.bus,
      topic: accountTopic(live.id),
      instance: this.#instance,
      clock: this.#deps.clock,
      answerDeadlines: this.#answerDeadlines,
      endedCalls: this.#endedCalls
    })
    return live.callees
  }

  #drop(live: LiveAccount): void {
    if (this.#accounts.get(live.id) !== live) return
    this.#accounts.delete(live.id)
    // A failed subscription was reported to those who waited; a late one is removed again.
    live.subscription.then(
      unsubscribe => unsubscribe().catch(this.#deps.onError),
      () => {}
    )
  }

  /** Clients read everything up to here after they are connected. If the store cannot say, the watch does later. */
  async #begin(account: AccountId, heard: HeardClock): Promise<void> {
    const clocks = await this.#deps.store.readClocks([account]).catch(this.#unlessBusy)
    const clock = clocks?.get(account)
    if (clock !== undefined) heard.readTo(clock)
  }

  readonly #unlessBusy = (error: unknown): undefined => {
    if (!(error instanceof StoreBusy)) this.#deps.onError(error)
  }

  get #hasWatch(): boolean {
    return this.#deps.bus.isShared || this.#deps.store.canStoreUntold === true
  }

  #watchClocks(): void {
    const { store, clock, onError } = this.#deps
    if (!this.#hasWatch) return
    const accounts = () => [...this.#accounts.values()].filter(({ connections }) => connections.size > 0).map(({ updates }) => updates)
    const onMissed = (updates: AccountUpdates, why: 'missed' | 'unknown', stored: number) => {
      if (why === 'unknown') updates.loseUpTo(stored)
      else updates.sendMissed()
    }
    this.#clockWatch = watchClocks({ store, clock, accounts, onMissed, onError })
  }

  /** Events for these connections may have been lost: their clients reconnect and read what they missed. */
  #lose(topic: Topic | undefined): void {
    const affected = [...this.#accounts.values()].filter(({ id }) => topic === undefined || accountTopic(id) === topic)
    const connections = affected.flatMap(live => [...live.connections])
    const spreadMs = Math.min(longestSpreadMs, connections.length * msPerConnection)
    const { clock, random = Math.random } = this.#deps
    for (const connection of connections) {
      if (this.#leaving.has(connection)) continue
      const cancel = clock.after(random() * spreadMs, () => {
        this.#leaving.delete(connection)
        connection.close('try-again')
      })
      this.#leaving.set(connection, cancel)
    }
  }

  /** An event that fails may have reached only some connections: all of the account reconnect and read what they missed. */
  #hear(live: LiveAccount, event: BusEvent): void {
    try {
      this.#handle(live, event)
    } catch (error) {
      this.#deps.onError(error)
      reconnectAll(live)
    }
  }

  #handle(live: LiveAccount, event: BusEvent): void {
    switch (event.type) {
      case 'change':
      case 'large-change':
        live.updates.hear(event)
        return
      case 'signal':
        this.#sendSignal(live, event)
        return
      case 'callee-here':
        this.#calleesOf(live).hear(event)
        return
      case 'call':
      case 'call-dropped':
        live.callees?.hear(event)
        return
      case 'present-asked':
        this.#answerPresent(live.id, event)
        return
      case 'token-revoked':
      case 'call-taken':
      case 'call-answered':
      case 'present':
      case 'instance-asked':
      case 'instance-here':
      case 'limits-used':
      case 'seats-held':
      case 'seats-asked':
      case 'setup-code-wrong':
        return
    }
  }

  #sendChange(to: Receivers, event: ChangeEvent): void {
    if (to.connections.size === 0) return
    for (const { frame, appsOnly, isAfieldOnly } of updateFrames(event, to.id, () => this.#nextUpdateId())) {
      this.#send(to, frame, appsOnly ? 'apps' : event.audience, event.skip, isAfieldOnly ? readsAfieldEvents : anyone)
    }
  }

  #answerPresent(account: AccountId, { id, replyTo, of }: Extract<BusEvent, { type: 'present-asked' }>): void {
    if (replyTo === instanceTopic(this.#instance)) return
    const isPresent = of === 'watching-app' ? this.#isWatchedHere(account) : this.hasOwn(account, of)
    if (isPresent) this.#deps.bus.publish(replyTo, { type: 'present', id })
  }

  #sendSignal(live: LiveAccount, { signal, audience, skip }: Extract<BusEvent, { type: 'signal' }>): void {
    this.#send(
      live,
      signalFrame(signal),
      audience,
      skip,
      signal.type === 'partial' ? takesPartials : isAfieldOnly(signal) ? readsAfieldEvents : anyone
    )
  }

  #send(to: Receivers, frame: Frame, audience: Audience, skip: ConnectionId | undefined, wants: (connection: Connection) => boolean): void {
    for (const connection of to.connections) {
      if (connection.scope !== 'app' && (audience === 'apps' || !isScopedTo(connection.scope, audience))) continue
      if (connection.id === skip || !wants(connection)) continue
      this.framesSent += 1
      connection.send(frame)
    }
  }

  #nextUpdateId(): string {
    this.#updatesMade += 1
    return this.#updateIdPrefix + this.#updatesMade.toString(36).padStart(6, '0')
  }
}

/** Closes the connections so that their clients reconnect and read what they missed. */
function reconnectAll({ connections }: Receivers): void {
  for (const connection of [...connections]) connection.close('try-again')
}

const anyone = () => true
const readsAfieldEvents = (connection: Connection) => connection.readsAfieldEvents
const takesPartials = (connection: Connection) => connection.takesPartials

function isScopedTo(scope: Connection['scope'], row: RowRef): boolean {
  return scope !== 'app' && scope.of === row.of && scope.id === row.id
}
