import type { Clock } from '../../async/clock.ts'
import { withDeadline } from '../../async/deadline.ts'
import { Deadlines } from '../../async/deadlines.ts'
import { type Audience, accountTopic, type Bus, type BusEvent, type Change, revocationTopic } from '../../bus/bus.ts'
import type { AccountId, ConnectionId, SessionId } from '../../protocol/wire/ids.ts'
import type { Message, RemovableRef, RowRef } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import { Budget, type Share } from '../budget.ts'
import { answerWithinMs, type CalleeDesk, createCalleeDesk } from './callees.ts'
import type { Connection } from './connection.ts'
import { eventFrame, type Frame, isOurs, signalFrame, updateFrames } from './frames.ts'

/** How much may wait behind missing messages in total; half of it for one account. */
const mostBehindBytes = 128 * 1024 * 1024
/** A bus that takes longer than this to subscribe has failed. */
const subscribeWithinMs = 10_000

type ChangeEvent = Extract<BusEvent, { type: 'change' }>

interface Waiting {
  event: ChangeEvent
  share: Share
}

/** What this instance knows of an account with connections here. */
interface Line {
  readonly account: AccountId
  readonly connections: Set<Connection>
  /** How many connections wait for `ready` before they are added. */
  arriving: number
  readonly callees: CalleeDesk
  /** The last seq sent of each session, and the last version sent of each cell. */
  readonly sentSeq: Map<SessionId, number>
  readonly sentVersion: Map<string, number>
  /** Changes waiting while messages missing before them are read; undefined if none are missing. */
  behind: Waiting[] | undefined
  readonly subscription: Promise<() => Promise<void>>
  /** Settles as the subscription does, but not later than a client waits for it. */
  readonly ready: Promise<unknown>
}

type HubDeps = { bus: Bus; store: Pick<Store, 'readMessages'>; clock: Clock; onError: (error: unknown) => void }

/**
 * The live connections of this instance. Sends each the frames that it may see, in order and never
 * backwards: a version not above the last one sent is dropped, and a gap of message seqs is filled from the
 * store first.
 */
export class Hub {
  readonly #answerDeadlines: Deadlines
  readonly #deps: HubDeps
  readonly #lines = new Map<AccountId, Line>()
  /** Of the changes waiting behind missing messages. */
  readonly #memory = new Budget(mostBehindBytes)
  readonly #updateIdPrefix: string
  #updatesMade = 0
  framesSent = 0
  gapsFilled = 0
  #leaveRevocations: (() => Promise<void>) | undefined

  private constructor(deps: HubDeps, instance: string) {
    this.#deps = deps
    this.#answerDeadlines = new Deadlines(deps.clock, answerWithinMs)
    this.#updateIdPrefix = instance.slice(0, 6)
  }

  /** Resolves once it is subscribed to ended tokens; rejects if the bus fails that. */
  static async open(deps: HubDeps, instance: string): Promise<Hub> {
    const hub = new Hub(deps, instance)
    hub.#leaveRevocations = await deps.bus.subscribe(revocationTopic, event => {
      if (event.type !== 'token-revoked') return
      for (const connection of hub.#all()) if (connection.token === event.token) connection.close('auth-revoked')
    })
    return hub
  }

  /**
   * Once resolved, the connection misses nothing published later. Rejects if the bus fails the
   * subscription; the connection is not attached then, and the next attempt asks the bus again.
   */
  async attach(connection: Connection): Promise<void> {
    const line = this.#lines.get(connection.account) ?? this.#open(connection.account)
    line.arriving += 1
    try {
      await line.ready
      line.connections.add(connection)
    } finally {
      line.arriving -= 1
    }
  }

  detach(connection: Connection): void {
    const line = this.#lines.get(connection.account)
    if (!line?.connections.delete(connection)) return
    line.callees.drop(connection)
    if (line.connections.size === 0 && line.arriving === 0) this.#drop(line)
  }

  register(connection: Connection, method: string): void {
    this.#lines.get(connection.account)?.callees.register(connection, method)
  }

  unregister(connection: Connection, method: string): void {
    this.#lines.get(connection.account)?.callees.unregister(connection, method)
    connection.send(eventFrame('rpc-unregistered', { method }))
  }

  /** Whether a process of the row itself is connected here. */
  hasOwn(account: AccountId, row: RowRef): boolean {
    for (const { scope, isPresent } of this.#lines.get(account)?.connections ?? []) if (isPresent && isScopedTo(scope, row)) return true
    return false
  }

  get size(): number {
    let size = 0
    for (const line of this.#lines.values()) size += line.connections.size
    return size
  }

  /** Whether an app of the account is in use; an app that does not report counts as not in use. */
  isWatched(account: AccountId): boolean {
    const now = this.#deps.clock.now()
    for (const { scope, watchedUntil } of this.#lines.get(account)?.connections ?? [])
      if (scope === 'app' && now < watchedUntil) return true
    return false
  }

  /** The live connections by what they may see. */
  connections(): { app: number; session: number; machine: number } {
    const count = { app: 0, session: 0, machine: 0 }
    for (const { scope } of this.#all()) count[scope === 'app' ? scope : scope.of] += 1
    return count
  }

  closeConnections(): void {
    for (const connection of [...this.#all()]) connection.close('server-shutdown')
  }

  async close(): Promise<void> {
    this.closeConnections()
    this.#answerDeadlines.close()
    await this.#leaveRevocations?.()
  }

  *#all(): Iterable<Connection> {
    for (const line of this.#lines.values()) yield* [...line.connections]
  }

  #open(account: AccountId): Line {
    const { bus, clock } = this.#deps
    const topic = accountTopic(account)
    const subscribe = async () => bus.subscribe(topic, event => this.#hear(line, event))
    const subscription = subscribe()
    const line: Line = {
      account,
      connections: new Set(),
      arriving: 0,
      callees: createCalleeDesk({ bus, topic, clock, answerDeadlines: this.#answerDeadlines }),
      sentSeq: new Map(),
      sentVersion: new Map(),
      behind: undefined,
      subscription,
      ready: withDeadline(subscribeWithinMs, () => subscription, { clock })
    }
    this.#lines.set(account, line)
    // The next client tries the bus again; waiting ones get the result of the same promise.
    line.ready.catch(() => this.#drop(line))
    return line
  }

  #drop(line: Line): void {
    if (this.#lines.get(line.account) !== line) return
    this.#lines.delete(line.account)
    // A failed subscription was reported to those who waited; a late one is removed again.
    line.subscription.then(
      unsubscribe => unsubscribe().catch(this.#deps.onError),
      () => {}
    )
  }

  /** An event that fails may have reached only some connections: all come back and read what it told. */
  #hear(line: Line, event: BusEvent): void {
    try {
      this.#handle(line, event)
    } catch (error) {
      this.#deps.onError(error)
      sendBack(line)
    }
  }

  #handle(line: Line, event: BusEvent): void {
    switch (event.type) {
      case 'change':
        if (line.behind) this.#wait(line, line.behind, event)
        else this.#take(line, event)
        return
      case 'signal':
        this.#sendSignal(line, event)
        return
      case 'callee-here':
      case 'call':
      case 'call-dropped':
        line.callees.hear(event)
        return
      case 'token-revoked':
      case 'call-taken':
      case 'call-answered':
        return
    }
  }

  #take(line: Line, event: ChangeEvent): void {
    const { change } = event
    if (change.type === 'messages-added') this.#takeMessages(line, event, change.session, change.messages)
    else {
      const news = newsIn(line, change)
      if (news) this.#sendChange(line, { ...event, change: news })
    }
  }

  #takeMessages(line: Line, event: ChangeEvent, session: SessionId, messages: Message[]): void {
    const first = messages[0]?.seq ?? 0
    const sent = line.sentSeq.get(session) ?? first - 1
    if (first > sent + 1) {
      this.#catchUp(line, event, session, sent, first)
      return
    }
    const fresh = messages.filter(message => message.seq > sent)
    const last = fresh.at(-1)
    if (!last) return
    line.sentSeq.set(session, last.seq)
    this.#sendChange(line, { ...event, change: { type: 'messages-added', session, messages: fresh } })
  }

  /** When too much waits already, no more is queued, and the connections it was for reconnect and read it. */
  #wait(line: Line, behind: Waiting[], event: ChangeEvent): void {
    const share = this.#memory.share(line.account)
    if (share.take(lengthOf(event.change))) {
      behind.push({ event, share })
      return
    }
    for (const waiting of behind.splice(0)) waiting.share.giveBack()
    sendBack(line)
  }

  // Events of other instances may overtake each other; the store has what is missing in between. Until it
  // is read, later changes wait.
  #catchUp(line: Line, event: ChangeEvent, session: SessionId, sent: number, first: number): void {
    line.behind = []
    this.#wait(line, line.behind, event)
    this.gapsFilled += 1
    this.#sendMissing(line, event, session, sent, first)
      .catch(error => {
        this.#deps.onError(error)
        // Without the missing messages later ones must not be sent: clients reconnect and read them.
        sendBack(line)
      })
      .finally(() => {
        line.sentSeq.set(session, first - 1)
        const waiting = line.behind ?? []
        line.behind = undefined
        for (const { share } of waiting) share.giveBack()
        for (const { event: next } of waiting) this.#hear(line, next)
      })
  }

  async #sendMissing(line: Line, event: ChangeEvent, session: SessionId, sent: number, first: number): Promise<void> {
    for (let after = sent; after < first - 1; ) {
      const page = await this.#deps.store.readMessages(line.account, session, { after, limit: first - 1 - after })
      const last = page === 'missing' ? undefined : page.messages.at(-1)
      if (page === 'missing' || !last) return
      this.#sendChange(line, { ...event, skip: undefined, change: { type: 'messages-added', session, messages: page.messages } })
      after = last.seq
    }
  }

  #sendChange(line: Line, event: ChangeEvent): void {
    if (line.connections.size === 0) return
    for (const { frame, appsOnly, isOurs } of updateFrames(event, line.account, () => this.#nextUpdateId())) {
      this.#send(line, frame, appsOnly ? 'apps' : event.audience, event.skip, isOurs ? knowsOurs : anyone)
    }
  }

  #sendSignal(line: Line, { signal, audience, skip }: Extract<BusEvent, { type: 'signal' }>): void {
    this.#send(line, signalFrame(signal), audience, skip, signal.type === 'partial' ? takesPartials : isOurs(signal) ? knowsOurs : anyone)
  }

  #send(line: Line, frame: Frame, audience: Audience, skip: ConnectionId | undefined, wants: (connection: Connection) => boolean): void {
    for (const connection of line.connections) {
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

function sendBack({ connections }: Line): void {
  for (const connection of [...connections]) connection.close('try-again')
}

/** The total length of all texts in it. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, each) => sum + lengthOf(each), 0)
}

const anyone = () => true
const knowsOurs = (connection: Connection) => connection.knowsOurs
const takesPartials = (connection: Connection) => connection.takesPartials

/** The part of a change that was not sent yet; undefined if a later one supersedes all of it. */
function newsIn(line: Line, change: Change): Change | undefined {
  const isNews = (key: string, version: number) => {
    if (version <= (line.sentVersion.get(key) ?? -1)) return false
    line.sentVersion.set(key, version)
    return true
  }
  switch (change.type) {
    case 'cell-written': {
      const { cell, now } = change
      const key = cell.of === 'account' ? cell.name : `${cell.of} ${cell.name} ${cell.id}`
      return isNews(key, now.version) ? change : undefined
    }
    case 'artifact-written': {
      const { type, id, header, body } = change
      const newHeader = header && isNews(`artifact header ${id}`, header.version) ? { header } : undefined
      const newBody = body && isNews(`artifact body ${id}`, body.version) ? { body } : undefined
      return newHeader || newBody ? { type, id, ...newHeader, ...newBody } : undefined
    }
    case 'kv-written': {
      const changes = change.changes.filter(({ key, version }) => isNews(`kv ${key}`, version))
      return changes.length > 0 ? { ...change, changes } : undefined
    }
    case 'receipts-marked':
      // Both only rise, so their sum does too.
      return isNews(`session receipts ${change.session}`, change.deliveredSeq + change.readSeq) ? change : undefined
    case 'row-removed':
      forget(line, change.row)
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
function forget(line: Line, { of, id }: RemovableRef): void {
  if (of === 'session') line.sentSeq.delete(id)
  for (const cell of cellsOf[of]) line.sentVersion.delete(`${of} ${cell} ${id}`)
}

function isScopedTo(scope: Connection['scope'], row: RowRef): boolean {
  return scope !== 'app' && scope.of === row.of && scope.id === row.id
}
