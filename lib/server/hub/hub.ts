import type { Clock } from '../../async/clock.ts'
import { withDeadline } from '../../async/deadline.ts'
import { Deadlines } from '../../async/deadlines.ts'
import type { Repeating } from '../../async/every.ts'
import { audienceOf } from '../../bus/audience.ts'
import {
  type Audience,
  accountTopic,
  type Bus,
  type BusEvent,
  type Change,
  instanceTopic,
  revocationTopic,
  type Topic
} from '../../bus/bus.ts'
import type { AccountId, ConnectionId, SessionId } from '../../protocol/wire/ids.ts'
import type { Message, RemovableRef, RowRef } from '../../store/rows.ts'
import { type Store, StoreBusy } from '../../store/store.ts'
import { Budget, type Share } from '../budget.ts'
import { answerWithinMs, type CalleeRegistry, createCalleeRegistry, EndedCalls } from './callees.ts'
import { watchClocks } from './clock-watch.ts'
import type { Connection } from './connection.ts'
import { eventFrame, type Frame, isAfieldOnly, signalFrame, updateFrames } from './frames.ts'
import { HeardClock } from './heard-clock.ts'
import { MissedChanges } from './missed.ts'
import { OtherInstances } from './other-instances.ts'
import { readChange, type StoredRows } from './stored-change.ts'

/** Of changes queued behind what is read from the store, in total; half of it for one account. */
const mostQueuedBytes = 128 * 1024 * 1024
/** A bus that takes longer than this to subscribe has failed. */
const subscribeWithinMs = 10_000

/** After lost events, connections close over a time that grows with their number, so that not all reconnect at once. */
const msPerConnection = 2
const longestSpreadMs = 10_000

type ChangeEvent = Extract<BusEvent, { type: 'change' }>
type LargeChange = Extract<BusEvent, { type: 'large-change' }>

interface QueuedChange {
  event: ChangeEvent | LargeChange
  share: Share
}

/** An account with connections at this instance. */
interface LiveAccount {
  readonly id: AccountId
  readonly connections: Set<Connection>
  /** How many connections wait for `ready` before they are added. */
  connecting: number
  readonly callees: CalleeRegistry
  /** The last seq sent of each session, and the last version sent of each cell. */
  readonly sentSeq: Map<SessionId, number>
  /**
   * The first message of each session that was sent, and the account's clock before it. What connections lack below it
   * was overtaken on its way here, or lost.
   */
  readonly firstSent: Map<SessionId, { seq: number; since: number }>
  readonly sentVersion: Map<string, number>
  /** Only on a bus with others, which can lose something. */
  readonly heard: HeardClock | undefined
  /** Changes that arrived while something before them is read from the store; undefined if nothing is. */
  queued: QueuedChange[] | undefined
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

/**
 * The live connections of this instance. Sends each the frames that it may see, in order and never
 * backwards: a version not above the last one sent is dropped, and a gap of message seqs is filled from the
 * store first.
 */
export class Hub {
  readonly #answerDeadlines: Deadlines
  readonly #endedCalls: EndedCalls
  readonly #deps: HubDeps
  readonly #accounts = new Map<AccountId, LiveAccount>()
  /** Of the queued changes. */
  readonly #memory = new Budget(mostQueuedBytes)
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
  readonly #missed: MissedChanges

  private constructor(deps: HubDeps, instance: string) {
    this.#deps = deps
    this.#instance = instance
    this.#missed = new MissedChanges(deps.store)
    this.#others = new OtherInstances(deps, instance)
    this.#answerDeadlines = new Deadlines(deps.clock, answerWithinMs)
    this.#endedCalls = new EndedCalls(this.#answerDeadlines)
    this.#updateIdPrefix = instance.slice(0, 6)
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
    live.callees.drop(connection)
    if (live.connections.size === 0 && live.connecting === 0) this.#drop(live)
  }

  register(connection: Connection, method: string): void {
    this.#accounts.get(connection.account)?.callees.register(connection, method)
  }

  unregister(connection: Connection, method: string): void {
    this.#accounts.get(connection.account)?.callees.unregister(connection, method)
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
      connections: new Set(),
      connecting: 0,
      callees: createCalleeRegistry({
        bus,
        topic,
        instance: this.#instance,
        clock,
        answerDeadlines: this.#answerDeadlines,
        endedCalls: this.#endedCalls
      }),
      sentSeq: new Map(),
      firstSent: new Map(),
      sentVersion: new Map(),
      heard,
      queued: undefined,
      subscription,
      ready: withDeadline(subscribeWithinMs, begin, { clock })
    }
    this.#accounts.set(account, live)
    // The next client tries the bus again; waiting ones get the result of the same promise.
    live.ready.catch(() => this.#drop(live))
    return live
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
    const accounts = () => [...this.#accounts.values()].filter(({ connections }) => connections.size > 0)
    const onMissed = (live: LiveAccount, why: 'missed' | 'unknown', stored: number) => {
      if (why === 'unknown') this.#loseUpTo(live, stored)
      else if (!live.queued) this.#queueWhile(live, () => this.#sendMissed(live))
    }
    this.#clockWatch = watchClocks({ store, clock, accounts, onMissed, onError })
  }

  /** Its clients read everything up to this clock when they are back. */
  #loseUpTo({ id, heard }: LiveAccount, clock: number): void {
    heard?.readTo(clock)
    this.#lose(accountTopic(id))
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
      if (event.type === 'change' || event.type === 'large-change') live.heard?.hear(event)
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
        if (live.queued) this.#enqueue(live, live.queued, event)
        else if (event.type === 'change') this.#handleChange(live, event)
        else this.#readThenHandle(live, event)
        return
      case 'signal':
        this.#sendSignal(live, event)
        return
      case 'callee-here':
      case 'call':
      case 'call-dropped':
        live.callees.hear(event)
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
        return
    }
  }

  #handleChange(live: LiveAccount, event: ChangeEvent): void {
    const { change } = event
    if (change.type === 'messages-added') this.#sendMessages(live, event, change.session, change.messages)
    else {
      const unsent = unsentPart(live, change)
      if (unsent) this.#sendChange(live, { ...event, change: unsent })
    }
  }

  #sendMessages(live: LiveAccount, event: ChangeEvent, session: SessionId, messages: Message[]): void {
    const first = messages[0]?.seq ?? 0
    const firstSent = live.firstSent.get(session)
    if (!firstSent || first < firstSent.seq) live.firstSent.set(session, { seq: first, since: event.clock - messages.length })
    // Whoever read the session before this was stored lacks it, and cannot get it after what came first.
    if (firstSent && first < firstSent.seq) reconnectAll(live)
    const sent = live.sentSeq.get(session) ?? first - 1
    if (first > sent + 1) {
      this.#catchUp(live, event, session, sent, first)
      return
    }
    const fresh = messages.filter(message => message.seq > sent)
    const last = fresh.at(-1)
    if (!last) return
    live.sentSeq.set(session, last.seq)
    this.#sendChange(live, { ...event, change: { type: 'messages-added', session, messages: fresh } })
  }

  /** If too much is queued already, the queue is dropped, and the connections of the account reconnect and read the changes. */
  #enqueue(live: LiveAccount, queue: QueuedChange[], event: ChangeEvent | LargeChange): void {
    const share = this.#memory.share(live.id)
    if (share.take(event.type === 'change' ? lengthOf(event.change) : 0)) {
      queue.push({ event, share })
      return
    }
    for (const { share: earlier } of queue.splice(0)) earlier.giveBack()
    reconnectAll(live)
  }

  // Events of other instances may overtake each other; the store has what is missing in between.
  #catchUp(live: LiveAccount, event: ChangeEvent, session: SessionId, sent: number, first: number): void {
    this.gapsFilled += 1
    const read = async () => {
      await this.#sendMissing(live, event, session, sent, first).finally(() => live.sentSeq.set(session, first - 1))
      return undefined
    }
    this.#enqueue(live, this.#queueWhile(live, read), event)
  }

  #readThenHandle(live: LiveAccount, { stored, type: _, ...rest }: LargeChange): void {
    const read = async (): Promise<ChangeEvent | undefined> => {
      const change = await readChange(this.#deps.store, live.id, stored)
      return change && { ...rest, type: 'change', change }
    }
    this.#queueWhile(live, read)
  }

  /** Later changes wait until something is read, and come after it; if it cannot be read, they must not be sent. */
  #queueWhile(live: LiveAccount, read: () => Promise<ChangeEvent | undefined>): QueuedChange[] {
    const queued: QueuedChange[] = []
    live.queued = queued
    const finish = (first: ChangeEvent | undefined) => {
      live.queued = undefined
      for (const { share } of queued) share.giveBack()
      if (first) this.#hear(live, first)
      for (const { event } of queued) this.#hear(live, event)
    }
    read().then(finish, error => {
      this.#deps.onError(error)
      reconnectAll(live)
      finish(undefined)
    })
    return queued
  }

  async #sendMissing(
    live: LiveAccount,
    event: Omit<ChangeEvent, 'change'>,
    session: SessionId,
    sent: number,
    first: number
  ): Promise<void> {
    for (let after = sent; after < first - 1; ) {
      const page = await this.#deps.store.readMessages(live.id, session, { after, limit: first - 1 - after })
      const last = page === 'missing' ? undefined : page.messages.at(-1)
      if (page === 'missing' || !last) return
      this.#sendChange(live, { ...event, skip: undefined, change: { type: 'messages-added', session, messages: page.messages } })
      after = last.seq
    }
  }

  /** Sends what was stored and not heard. If the database is away, the next look begins again. */
  async #sendMissed(live: LiveAccount): Promise<undefined> {
    const { now = Date.now } = this.#deps
    const sent = {
      has: ({ of, id }: RemovableRef) => live.sentVersion.has(`${of} ${cellsOf[of][0]} ${id}`),
      seq: (session: SessionId) => live.sentSeq.get(session)
    }
    try {
      const since = live.heard?.upTo ?? 0
      const { clock, changes } = await this.#missed.since(live.id, since, sent)
      // A lost message may be from before the first that was sent of its session, and cannot be sent after it.
      if (changes === undefined || [...live.firstSent.values()].some(first => first.seq > 1 && first.since > since)) {
        this.#loseUpTo(live, clock)
        return
      }
      for await (const change of changes) {
        const event: ChangeEvent = { type: 'change', clock, at: now(), audience: audienceOf(change), change }
        if (change.type !== 'messages-added') this.#handleChange(live, event)
        else {
          this.#sendChange(live, event)
          live.sentSeq.set(change.session, change.messages.at(-1)?.seq ?? 0)
          const seq = change.messages[0]?.seq ?? 0
          if (!live.firstSent.has(change.session)) live.firstSent.set(change.session, { seq, since })
        }
      }
      live.heard?.readTo(clock)
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error
    }
  }

  #sendChange(live: LiveAccount, event: ChangeEvent): void {
    if (live.connections.size === 0) return
    for (const { frame, appsOnly, isAfieldOnly } of updateFrames(event, live.id, () => this.#nextUpdateId())) {
      this.#send(live, frame, appsOnly ? 'apps' : event.audience, event.skip, isAfieldOnly ? readsAfieldEvents : anyone)
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

  #send(
    live: LiveAccount,
    frame: Frame,
    audience: Audience,
    skip: ConnectionId | undefined,
    wants: (connection: Connection) => boolean
  ): void {
    for (const connection of live.connections) {
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
function reconnectAll({ connections }: LiveAccount): void {
  for (const connection of [...connections]) connection.close('try-again')
}

/** The total length of all texts in it. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, each) => sum + lengthOf(each), 0)
}

const anyone = () => true
const readsAfieldEvents = (connection: Connection) => connection.readsAfieldEvents
const takesPartials = (connection: Connection) => connection.takesPartials

/** The part of a change that was not sent yet; undefined if a later one supersedes all of it. */
function unsentPart(live: LiveAccount, change: Change): Change | undefined {
  const isUnsent = (key: string, version: number) => {
    if (version <= (live.sentVersion.get(key) ?? -1)) return false
    live.sentVersion.set(key, version)
    return true
  }
  switch (change.type) {
    case 'cell-written': {
      const { cell, now } = change
      const key = cell.of === 'account' ? cell.name : `${cell.of} ${cell.name} ${cell.id}`
      return isUnsent(key, now.version) ? change : undefined
    }
    case 'artifact-written': {
      const { type, id, header, body } = change
      const newHeader = header && isUnsent(`artifact header ${id}`, header.version) ? { header } : undefined
      const newBody = body && isUnsent(`artifact body ${id}`, body.version) ? { body } : undefined
      return newHeader || newBody ? { type, id, ...newHeader, ...newBody } : undefined
    }
    case 'kv-written': {
      const changes = change.changes.filter(({ key, version }) => isUnsent(`kv ${key}`, version))
      return changes.length > 0 ? { ...change, changes } : undefined
    }
    case 'receipts-marked':
      // Both only rise, so their sum does too.
      return isUnsent(`session receipts ${change.session}`, change.deliveredSeq + change.readSeq) ? change : undefined
    case 'row-removed':
      forget(live, change.row)
      return change
    case 'session-opened':
    case 'machine-opened':
    case 'artifact-opened':
    case 'messages-added':
      return change
  }
}

const cellsOf = {
  session: ['metadata', 'agentState', 'receipts'],
  machine: ['metadata', 'daemonState'],
  artifact: ['header', 'body']
} as const

// A machine or artifact recreated under its old id starts at its first versions.
function forget(live: LiveAccount, { of, id }: RemovableRef): void {
  if (of === 'session') {
    live.sentSeq.delete(id)
    live.firstSent.delete(id)
  }
  for (const cell of cellsOf[of]) live.sentVersion.delete(`${of} ${cell} ${id}`)
}

function isScopedTo(scope: Connection['scope'], row: RowRef): boolean {
  return scope !== 'app' && scope.of === row.of && scope.id === row.id
}
