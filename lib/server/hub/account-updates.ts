import { audienceOf } from '../../bus/audience.ts'
import type { BusEvent, Change } from '../../bus/bus.ts'
import type { AccountId, SessionId } from '../../protocol/wire/ids.ts'
import type { Message, RemovableRef } from '../../store/rows.ts'
import { StoreBusy } from '../../store/store.ts'
import type { Budget, Share } from '../budget.ts'
import type { Connection } from './connection.ts'
import type { HeardClock } from './heard-clock.ts'
import type { MissedChanges } from './missed.ts'
import { readChange, type StoredRows } from './stored-change.ts'

/** Of changes queued behind what is read from the store, in total; half of it for one account. */
export const mostQueuedBytes = 128 * 1024 * 1024

export type ChangeEvent = Extract<BusEvent, { type: 'change' }>
type LargeChange = Extract<BusEvent, { type: 'large-change' }>

interface QueuedChange {
  event: ChangeEvent | LargeChange
  share: Share
}

/** Whose changes they are, and who gets them. */
export interface Receivers {
  readonly id: AccountId
  readonly connections: ReadonlySet<Connection>
}

/** The same for all accounts: there are as many as people are connected. */
export interface AccountUpdatesDeps {
  store: StoredRows
  missed: MissedChanges
  /** Of the queued changes. */
  memory: Budget
  now: () => number
  /** To the connections that may see it. */
  send(to: Receivers, event: ChangeEvent): void
  onGap(): void
  /** Closes all connections at once, so that their clients reconnect and read what they missed. */
  reconnect(all: Receivers): void
  /** The same within some seconds. */
  onLost(of: Receivers): void
  onError: (error: unknown) => void
}

/**
 * The changes of one account on their way from the bus to its connections: in order and never backwards. A version not above the
 * last one sent is dropped, and a gap of message seqs is filled from the store first.
 */
export class AccountUpdates {
  readonly #receivers: Receivers
  /** Only where something can be stored and not heard. */
  readonly heard: HeardClock | undefined
  readonly #deps: AccountUpdatesDeps
  /** The last seq sent of each session, and the last version sent of each cell. */
  readonly #sentSeq = new Map<SessionId, number>()
  readonly #sentVersion = new Map<string, number>()
  /**
   * The first message of each session that was sent, and the account's clock before it. What connections lack below it
   * was overtaken on its way here, or lost.
   */
  readonly #firstSent = new Map<SessionId, { seq: number; since: number }>()
  /** Changes that arrived while something before them is read from the store; undefined if nothing is. */
  #queued: QueuedChange[] | undefined

  constructor(receivers: Receivers, heard: HeardClock | undefined, deps: AccountUpdatesDeps) {
    this.#receivers = receivers
    this.heard = heard
    this.#deps = deps
  }

  get id(): AccountId {
    return this.#receivers.id
  }

  /** One that fails may have reached only some connections: all of them reconnect. */
  hear(event: ChangeEvent | LargeChange): void {
    try {
      this.heard?.hear(event)
      if (this.#queued) this.#enqueue(this.#queued, event)
      else if (event.type === 'change') this.#handle(event)
      else this.#readThenHandle(event)
    } catch (error) {
      this.#deps.onError(error)
      this.#deps.reconnect(this.#receivers)
    }
  }

  /** Sends what was stored and not heard, unless something is being read already. */
  sendMissed(): void {
    if (!this.#queued) this.#queueWhile(() => this.#readMissed())
  }

  /** Clients read everything up to this clock when they are back. */
  loseUpTo(clock: number): void {
    this.heard?.readTo(clock)
    this.#deps.onLost(this.#receivers)
  }

  #handle(event: ChangeEvent): void {
    const { change } = event
    if (change.type === 'messages-added') this.#sendMessages(event, change.session, change.messages)
    else {
      const unsent = this.#unsentPart(change)
      if (unsent) this.#deps.send(this.#receivers, { ...event, change: unsent })
    }
  }

  #sendMessages(event: ChangeEvent, session: SessionId, messages: Message[]): void {
    const first = messages[0]?.seq ?? 0
    const firstSent = this.#firstSent.get(session)
    if (!firstSent || first < firstSent.seq) this.#firstSent.set(session, { seq: first, since: event.clock - messages.length })
    // Whoever read the session before this was stored lacks it, and cannot get it after what came first.
    if (firstSent && first < firstSent.seq) this.#deps.reconnect(this.#receivers)
    const sent = this.#sentSeq.get(session) ?? first - 1
    if (first > sent + 1) {
      this.#catchUp(event, session, sent, first)
      return
    }
    const fresh = messages.filter(message => message.seq > sent)
    const last = fresh.at(-1)
    if (!last) return
    this.#sentSeq.set(session, last.seq)
    this.#deps.send(this.#receivers, { ...event, change: { type: 'messages-added', session, messages: fresh } })
  }

  /** If too much is queued already, the queue is dropped, and the connections of the account reconnect and read the changes. */
  #enqueue(queue: QueuedChange[], event: ChangeEvent | LargeChange): void {
    const share = this.#deps.memory.share(this.id)
    if (share.take(event.type === 'change' ? lengthOf(event.change) : 0)) {
      queue.push({ event, share })
      return
    }
    for (const { share: earlier } of queue.splice(0)) earlier.giveBack()
    this.#deps.reconnect(this.#receivers)
  }

  // Events of other instances may overtake each other; the store has what is missing in between.
  #catchUp(event: ChangeEvent, session: SessionId, sent: number, first: number): void {
    this.#deps.onGap()
    const read = async () => {
      await this.#sendMissing(event, session, sent, first).finally(() => this.#sentSeq.set(session, first - 1))
      return undefined
    }
    this.#enqueue(this.#queueWhile(read), event)
  }

  #readThenHandle({ stored, type: _, ...rest }: LargeChange): void {
    const read = async (): Promise<ChangeEvent | undefined> => {
      const change = await readChange(this.#deps.store, this.id, stored)
      return change && { ...rest, type: 'change', change }
    }
    this.#queueWhile(read)
  }

  /** Later changes wait until something is read, and come after it; if it cannot be read, they must not be sent. */
  #queueWhile(read: () => Promise<ChangeEvent | undefined>): QueuedChange[] {
    const queued: QueuedChange[] = []
    this.#queued = queued
    const finish = (first: ChangeEvent | undefined) => {
      this.#queued = undefined
      for (const { share } of queued) share.giveBack()
      if (first) this.hear(first)
      for (const { event } of queued) this.hear(event)
    }
    read().then(finish, error => {
      this.#deps.onError(error)
      this.#deps.reconnect(this.#receivers)
      finish(undefined)
    })
    return queued
  }

  async #sendMissing(event: Omit<ChangeEvent, 'change'>, session: SessionId, sent: number, first: number): Promise<void> {
    for (let after = sent; after < first - 1; ) {
      const page = await this.#deps.store.readMessages(this.id, session, { after, limit: first - 1 - after })
      const last = page === 'missing' ? undefined : page.messages.at(-1)
      if (page === 'missing' || !last) return
      this.#deps.send(this.#receivers, { ...event, skip: undefined, change: { type: 'messages-added', session, messages: page.messages } })
      after = last.seq
    }
  }

  /** If the database is away, the next look begins again. */
  async #readMissed(): Promise<undefined> {
    const { missed, now, send } = this.#deps
    const sent = {
      has: ({ of, id }: RemovableRef) => this.#sentVersion.has(`${of} ${cellsOf[of][0]} ${id}`),
      seq: (session: SessionId) => this.#sentSeq.get(session)
    }
    try {
      const since = this.heard?.upTo ?? 0
      const { clock, changes } = await missed.since(this.id, since, sent)
      // A lost message may be from before the first that was sent of its session, and cannot be sent after it.
      if (changes === undefined || [...this.#firstSent.values()].some(first => first.seq > 1 && first.since > since)) {
        this.loseUpTo(clock)
        return
      }
      for await (const change of changes) {
        const event: ChangeEvent = { type: 'change', clock, at: now(), audience: audienceOf(change), change }
        if (change.type !== 'messages-added') this.#handle(event)
        else {
          send(this.#receivers, event)
          this.#sentSeq.set(change.session, change.messages.at(-1)?.seq ?? 0)
          const seq = change.messages[0]?.seq ?? 0
          if (!this.#firstSent.has(change.session)) this.#firstSent.set(change.session, { seq, since })
        }
      }
      this.heard?.readTo(clock)
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error
    }
  }

  /** The part of a change that was not sent yet; undefined if a later one supersedes all of it. */
  #unsentPart(change: Change): Change | undefined {
    const isUnsent = (key: string, version: number) => {
      if (version <= (this.#sentVersion.get(key) ?? -1)) return false
      this.#sentVersion.set(key, version)
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
        this.#forget(change.row)
        return change
      case 'session-opened':
      case 'machine-opened':
      case 'artifact-opened':
      case 'messages-added':
        return change
    }
  }

  // A machine or artifact recreated under its old id starts at its first versions.
  #forget({ of, id }: RemovableRef): void {
    if (of === 'session') {
      this.#sentSeq.delete(id)
      this.#firstSent.delete(id)
    }
    for (const cell of cellsOf[of]) this.#sentVersion.delete(`${of} ${cell} ${id}`)
  }
}

const cellsOf = {
  session: ['metadata', 'agentState', 'receipts'],
  machine: ['metadata', 'daemonState'],
  artifact: ['header', 'body']
} as const

/** The total length of all texts in it. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, each) => sum + lengthOf(each), 0)
}
