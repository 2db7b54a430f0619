import { isContentOf, type Name, nameFrom, numberOf, textOf, writerOf } from './names.ts'

/** A message as a server showed it. */
export interface ShownMessage {
  seq: number
  localId: string | null
  content: string
}

/**
 * How a request ended. Of one without an answer, or with one that says the server is out of order, nobody knows whether it
 * was done.
 */
export type Outcome = 'ok' | 'maybe'

/** A batch and a page are each one operation, however many messages they have. */
export const kinds = ['batch posted', 'batch sent', 'page read', 'settings replaced', 'settings read'] as const
export type Kind = (typeof kinds)[number]

interface Event {
  ms: number
  /** A session, an account, or nothing in particular. */
  about: string
  what: string
  from: number
  to: number
  at: string
}

/**
 * What is stored reaches everybody who is connected within five seconds, whether the bus works or not. On a machine that has
 * more to do than it can, it may take a little longer.
 */
export const toldWithinMs = 5_000 + 2_000

/** So many events are remembered for the account of a complaint, and so many of them belong into it. */
const remembered = 20_000
const shownAround = 100

/**
 * What all clients were told, at every instance. What contradicts something told before, or a rule, is a complaint at once.
 * What nobody can be told again is forgotten, so that its size does not grow with the run.
 */
export class History {
  readonly complaints: string[] = []
  /** What happened before the first complaint to what it is about, and the faults meanwhile. */
  around: string[] = []
  readonly outcomes = { ok: 0, maybe: 0 }
  readonly operationsOf = new Map<Kind, number>()
  readonly faultsOf = new Map<string, number>()
  readonly sessions = new Map<string, SessionHistory>()
  readonly settings = new Map<string, SettingsHistory>()
  seenLive = 0
  connections = 0
  /** Rises with each fault of something that requests need, which the bus is not: when it begins, and when it is over. */
  disturbances = 0
  /** In this time, which stands still while this process does, everybody is judged who is told something too late. */
  #nowMs = 0
  #disturbedAtMs = 0
  #disturbing = 0
  readonly #began = performance.now()
  readonly #events: Event[] = []
  #next = 0

  get operations(): number {
    return this.outcomes.ok + this.outcomes.maybe
  }

  /** A request, or a batch on a socket with the ping after it. */
  ended({ kind, about, at }: { kind: Kind; about: string; at: string }, outcome: Outcome): void {
    this.outcomes[outcome] += 1
    this.operationsOf.set(kind, (this.operationsOf.get(kind) ?? 0) + 1)
    if (outcome === 'maybe') this.note({ about, what: `${kind}, maybe`, at })
    else if (kind === 'batch sent') this.note({ about, what: kind, at })
  }

  /** A fault that was injected. */
  struck(fault: string): void {
    this.faultsOf.set(fault, (this.faultsOf.get(fault) ?? 0) + 1)
    this.note({ about: '', what: fault })
    if (isOfBus(fault)) return
    this.#disturbing += 1
    this.disturbances += 1
  }

  /** It is repaired. */
  over(fault: string): void {
    this.note({ about: '', what: `${fault}: over` })
    if (isOfBus(fault)) return
    this.#disturbing -= 1
    this.disturbances += 1
    this.#disturbedAtMs = this.#nowMs
  }

  /** Whether all that requests need is there. */
  get isWhole(): boolean {
    return this.#disturbing === 0
  }

  /** Time goes on. */
  pass(ms: number): void {
    this.#nowMs += ms
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /**
   * Somebody who relies on what is sent, and has had everything up to `seen` since then, must get the next message in time.
   * Nothing is promised while the database or an instance is out of order. False if it did not.
   */
  isInTime(id: string, { seen, sinceMs, at }: { seen: number; sinceMs: number; at: string }): boolean {
    const knownMs = this.session(id).knownMs(seen + 1)
    if (knownMs === undefined || !this.isWhole) return true
    const lateMs = this.#nowMs - Math.max(knownMs, sinceMs, this.#disturbedAtMs)
    if (lateMs <= toldWithinMs) return true
    this.complain(`session ${id}: ${seen + 1} is known for ${Math.round(lateMs / 1000)} s and was not told to the app ${at}`, id)
    return false
  }

  session(id: string): SessionHistory {
    const session = this.sessions.get(id) ?? new SessionHistory(this.#tellingOf(id, `session ${id}`), () => this.#nowMs)
    this.sessions.set(id, session)
    return session
  }

  settingsOf(account: string): SettingsHistory {
    const settings = this.settings.get(account) ?? new SettingsHistory(this.#tellingOf(account, `settings of ${account}`))
    this.settings.set(account, settings)
    return settings
  }

  note({ about, what, from = 0, to = from, at = '' }: Partial<Event> & { about: string; what: string }): void {
    this.#events[this.#next++ % remembered] = { ms: performance.now() - this.#began, about, what, from, to, at }
  }

  complain(what: string, about = ''): void {
    if (this.complaints.length === 0) this.around = this.#around(about)
    this.complaints.push(what)
  }

  #tellingOf(about: string, title: string): Telling {
    return {
      complain: what => this.complain(`${title}: ${what}`, about),
      note: (what, from, to, at = '') => this.note({ about, what, from, to, at })
    }
  }

  #around(about: string): string[] {
    const first = this.#next % remembered
    const inOrder = [...this.#events.slice(first), ...this.#events.slice(0, first)]
    const its: Event[] = []
    const running = new Map<string, Event>()
    for (const event of inOrder) {
      if (about !== '' && event.about !== '' && event.about !== about) continue
      const key = `${event.what} ${event.at}`
      const before = running.get(key)
      if (before && before.to > 0 && before.to + 1 === event.from) before.to = event.to
      else {
        const line = { ...event }
        running.set(key, line)
        its.push(line)
      }
    }
    return its.slice(-shownAround).map(({ ms, what, from, to, at }) => {
      const numbers = from === 0 ? '' : from === to ? ` ${from}` : ` ${from} to ${to}`
      return `${(ms / 1000).toFixed(3)} s ${what}${numbers}${at && ` at ${at}`}`
    })
  }
}

/** Requests need no bus. */
function isOfBus(fault: string): boolean {
  return fault.startsWith('Redis ')
}

/** Of one writer: all below `next`, and some ahead. */
interface StoredNumbers {
  next: number
  ahead: Set<number>
}

interface Telling {
  complain(what: string): void
  note(what: string, from: number, to: number, at?: string): void
}

/** Somebody who reads on from here, and is never again shown what comes before. */
export interface Reader {
  cursor: number
}

const namesPerBlock = 4096

export class SessionHistory {
  /** What is at each number after the forgotten ones, as soon as anybody was told. */
  #names: (Name | undefined)[] = []
  #forgotten = 0
  /** The highest number at the rest before. */
  #settled = 0
  /** Of each writer, how many of its messages were acknowledged. */
  readonly #acknowledged = new Map<number, number>()
  /** The writers that send several requests without waiting: the repetition of a failed one may come after a later one. */
  readonly #unordered = new Set<number>()
  readonly #readers: Reader[] = []
  /** Of what was read through at the rests, a digest of the names in each block of numbers. */
  readonly #blocks: number[] = []
  readonly #steady: ReadThrough
  readonly #telling: Telling
  /** Since the rest before: up to which number somebody was told, and since when. */
  #known: { upTo: number; sinceMs: number }[] = []
  readonly #nowMs: () => number

  constructor(telling: Telling, nowMs: () => number) {
    this.#telling = telling
    this.#nowMs = nowMs
    this.#steady = this.#readThrough(digest => void this.#blocks.push(digest))
  }

  /** The highest number that anybody was told. From then on every read has it, at every instance. */
  get highest(): number {
    return this.#forgotten + this.#names.length
  }

  /** So many numbers are remembered with what is there. */
  get remembered(): number {
    return this.#names.length
  }

  /** Since when somebody knows that there are so many; undefined if nobody does, or if everybody had them at a rest. */
  knownMs(seq: number): number | undefined {
    return this.#known.find(({ upTo }) => upTo >= seq)?.sinceMs
  }

  addReader(): Reader {
    const reader = { cursor: 0 }
    this.#readers.push(reader)
    return reader
  }

  mayOvertakeItself(writer: number): void {
    this.#unordered.add(writer)
  }

  shown({ seq, localId, content }: ShownMessage, how: string): void {
    const name = nameFrom(localId)
    if (name === undefined) {
      this.#telling.complain(`${seq} was ${how} as ${localId}, which nobody wrote`)
      return
    }
    if (!isContentOf(name, content)) this.#telling.complain(`${seq} (${localId}) was ${how} with another content`)
    this.#settle(seq, name, how)
  }

  /** A writer was told the numbers of messages that it sent in one request, in this order. */
  answered(sent: readonly Name[], told: readonly { seq: number; localId: string | null }[]): void {
    if (told.length !== sent.length) this.#telling.complain(`of ${sent.length} messages ${told.length} were acknowledged`)
    let last = 0
    for (const [index, name] of sent.entries()) {
      const { seq = 0, localId = null } = told[index] ?? {}
      if (nameFrom(localId) !== name) {
        this.#telling.complain(`${textOf(name)} was acknowledged as ${localId}`)
        continue
      }
      if (seq <= last) this.#telling.complain(`${textOf(name)} got ${seq}, and what stood before it in its request ${last}`)
      last = seq
      this.#settle(seq, name, 'acknowledged')
    }
    this.takenIn(sent)
  }

  /** A writer was told that these are stored; which numbers they have was not said. */
  takenIn(sent: readonly Name[]): void {
    for (const name of sent) {
      const before = this.#acknowledged.get(writerOf(name)) ?? 0
      this.#acknowledged.set(writerOf(name), Math.max(before, numberOf(name) + 1))
    }
  }

  /**
   * A page that begins after a number. `known` was the highest that anybody had been told when it was requested, so a page
   * that is the last one ends no earlier.
   */
  page(messages: readonly ShownMessage[], ask: { cursor: number; more: boolean; known: number; how?: string; at?: string }): void {
    const { how = 'read' } = ask
    this.#telling.note(ask.more ? how : `${how} to the end`, ask.cursor + 1, ask.cursor + messages.length, ask.at)
    messages.forEach((message, index) => {
      const next = ask.cursor + index + 1
      if (message.seq !== next) this.#telling.complain(`a reader at ${next - 1} got ${message.seq} next`)
      this.shown(message, how)
    })
    const end = ask.cursor + messages.length
    if (!ask.more && end < ask.known)
      this.#telling.complain(`a reader was told that ${end} is the last, and ${ask.known} had been told before`)
  }

  /** Live on one connection, which had got `last` before, or had read to there. */
  live(message: ShownMessage, last: number | undefined, at = ''): void {
    this.#telling.note('sent live', message.seq, message.seq, at)
    if (last !== undefined && message.seq !== last + 1) this.#telling.complain(`a connection got ${message.seq} after ${last}`)
    this.shown(message, 'sent live')
  }

  /**
   * While nobody writes and every client has everything, one reads on from what was read through at the rest before. What is
   * there is once there, each writer's in its order, and nothing acknowledged is missing.
   */
  get steady(): ReadThrough {
    return this.#steady
  }

  /** Ends a rest: all whole blocks that were there at the rest before are forgotten, except what a reader has still before it. */
  forget(): void {
    this.#steady.end()
    this.#known = []
    const settled = Math.min(this.#settled, this.#steady.cursor, ...this.#readers.map(({ cursor }) => cursor))
    const upTo = settled - (settled % namesPerBlock)
    this.#settled = this.highest
    if (upTo <= this.#forgotten) return
    this.#names = this.#names.slice(upTo - this.#forgotten)
    this.#forgotten = upTo
  }

  /** Everything that is stored, once more from its beginning: it is the same as what was read through before. */
  audit(): ReadThrough {
    return this.#readThrough((digest, block) => {
      const first = block * namesPerBlock + 1
      const before = this.#blocks[block]
      if (before !== undefined && before !== digest)
        this.#telling.complain(`${first} to ${first + namesPerBlock - 1} are not the same as they were`)
    })
  }

  #readThrough(onBlock: (digest: number, block: number) => void): ReadThrough {
    return new ReadThrough(
      {
        complain: this.#telling.complain,
        highest: () => this.highest,
        acknowledged: this.#acknowledged,
        unordered: this.#unordered
      },
      onBlock
    )
  }

  #settle(seq: number, name: Name, how: string): void {
    if (seq <= this.#forgotten) {
      if (how !== atTheEnd) this.#telling.complain(`${seq} was ${how} long after everybody had it`)
      return
    }
    const at = seq - this.#forgotten - 1
    const before = this.#names[at]
    if (before !== undefined && before !== name) this.#telling.complain(`${seq} was ${textOf(before)} and is now ${how} as ${textOf(name)}`)
    // Without holes, an array takes eight bytes for each.
    while (this.#names.length < at) this.#names.push(undefined)
    if (at === this.#names.length) this.#note(seq)
    this.#names[at] = name
  }

  #note(upTo: number): void {
    const last = this.#known.at(-1)
    const sinceMs = this.#nowMs()
    if (last?.sinceMs === sinceMs) last.upTo = upTo
    else this.#known.push({ upTo, sinceMs })
  }
}

/** How a reader is shown what is forgotten: its blocks are compared instead. */
export const atTheEnd = 'at the end'

interface Judgement {
  complain(what: string): void
  highest(): number
  acknowledged: ReadonlyMap<number, number>
  unordered: ReadonlySet<number>
}

/** Reads a session from its beginning without a gap. It remembers how far each writer is. */
class ReadThrough {
  cursor = 0
  readonly #judgement: Judgement
  readonly #onBlock: (digest: number, block: number) => void
  readonly #stored = new Map<number, StoredNumbers>()
  #digest = 0

  constructor(judgement: Judgement, onBlock: (digest: number, block: number) => void) {
    this.#judgement = judgement
    this.#onBlock = onBlock
  }

  take({ seq, localId }: ShownMessage): void {
    this.cursor += 1
    if (seq !== this.cursor) this.#judgement.complain(`${seq} stands where ${this.cursor} belongs`)
    const name = nameFrom(localId)
    if (name === undefined) return
    this.#store(name)
    this.#digest = Math.imul(this.#digest ^ numberOf(name), 0x01000193) ^ Math.imul(writerOf(name) + 1, 0x9e3779b1)
    if (this.cursor % namesPerBlock === 0) this.#onBlock(this.#digest, this.cursor / namesPerBlock - 1)
  }

  /** Nothing more is stored: whatever was told and acknowledged has been here. */
  end(): void {
    const { complain, highest, acknowledged } = this.#judgement
    if (this.cursor < highest()) complain(`${this.cursor} messages are there, and ${highest()} had been told`)
    for (const [writer, many] of acknowledged) {
      const next = this.#stored.get(writer)?.next ?? 0
      if (next < many) complain(`${writer}.${next} was acknowledged and is lost`)
    }
  }

  #store(name: Name): void {
    const { complain, unordered } = this.#judgement
    const writer = writerOf(name)
    const stored = this.#stored.get(writer) ?? { next: 0, ahead: new Set() }
    this.#stored.set(writer, stored)
    const number = numberOf(name)
    if (number < stored.next || stored.ahead.has(number)) complain(`${textOf(name)} is there twice`)
    else stored.ahead.add(number)
    if (number > stored.next && !unordered.has(writer)) complain(`${textOf(name)} came before ${writer}.${stored.next}`)
    while (stored.ahead.delete(stored.next)) stored.next += 1
  }
}

/** Settings of an account, which are replaced only by who knows their version: each version has one winner. */
export class SettingsHistory {
  /** What each version is that is not forgotten. */
  readonly #names = new Map<number, Name>()
  #refused = new Set<Name>()
  readonly #versions = new Map<Name, number>()
  #forgotten = 0
  /** Of the rest before: the highest version, and what had been refused until then. */
  #settled = 0
  #refusedBefore = new Set<Name>()
  /** Of each writer, the last of its values that is forgotten: this and those before it never come again. */
  readonly #overtaken = new Map<number, number>()
  readonly #telling: Telling
  #highest = 0

  constructor(telling: Telling) {
    this.#telling = telling
  }

  /** The highest version that anybody was told. */
  get highest(): number {
    return this.#highest
  }

  /** So many versions and refusals are remembered. */
  get remembered(): number {
    return this.#names.size + this.#refused.size + this.#refusedBefore.size
  }

  /** While nobody writes and every client has everything: all that is older than the rest before is forgotten. */
  forget(): void {
    // The present one is still read.
    this.#forgotten = Math.max(0, Math.min(this.#settled, this.#highest - 1))
    for (const [version, name] of this.#names) {
      if (version > this.#forgotten) continue
      this.#names.delete(version)
      this.#versions.delete(name)
      this.#overtake(name)
    }
    for (const name of this.#refusedBefore) this.#overtake(name)
    this.#settled = this.#highest
    this.#refusedBefore = this.#refused
    this.#refused = new Set()
  }

  /** A writer that knew a version has replaced it. */
  won(name: Name, { expected, version }: { expected: number; version: number }): void {
    if (version !== expected + 1) this.#telling.complain(`${textOf(name)} replaced version ${expected} and got ${version}`)
    this.#telling.note('settings written as version', version, version)
    this.#settle(version, name, 'written')
  }

  /** A writer was told that its version is not the present one. */
  refused(name: Name): void {
    const version = this.#versions.get(name)
    if (version !== undefined) this.#telling.complain(`${textOf(name)} was refused and is version ${version}`)
    this.#refused.add(name)
  }

  /** `known` was the highest version that anybody had been told when it was requested; live, there is none. */
  shown({ version, value }: { version: number; value: string | null }, how: string, known = 0): void {
    if (version < known) this.#telling.complain(`version ${version} was ${how} after ${known} had been told`)
    if (version === 0) return
    const name = nameFrom(value)
    if (name === undefined) this.#telling.complain(`version ${version} was ${how} as ${value}, which nobody wrote`)
    else this.#settle(version, name, how)
  }

  /** Live on one connection, which had got `last` before. */
  live(cell: { version: number; value: string | null }, last: number | undefined): void {
    if (last !== undefined && cell.version <= last) this.#telling.complain(`a connection got version ${cell.version} after ${last}`)
    this.#telling.note('settings sent live as version', cell.version, cell.version)
    this.shown(cell, 'sent live')
  }

  /** At the end, when nobody writes. */
  audit({ version, value }: { version: number; value: string | null }): void {
    this.shown({ version, value }, 'at the end', this.highest)
    if (version > this.highest) this.#telling.complain(`version ${version} is there, and nobody was told more than ${this.highest}`)
  }

  #settle(version: number, name: Name, how: string): void {
    if (version <= this.#forgotten) {
      this.#telling.complain(`version ${version} was ${how} long after everybody had it`)
      return
    }
    const before = this.#names.get(version)
    if (before !== undefined && before !== name)
      this.#telling.complain(`version ${version} was ${textOf(before)} and is now ${how} as ${textOf(name)}`)
    const other = this.#versions.get(name)
    if (other !== undefined && other !== version) this.#telling.complain(`${textOf(name)} is version ${other} and version ${version}`)
    if (this.#refused.has(name) || this.#refusedBefore.has(name))
      this.#telling.complain(`${textOf(name)} was refused and is version ${version}`)
    if (other === undefined && numberOf(name) <= (this.#overtaken.get(writerOf(name)) ?? -1))
      this.#telling.complain(`${textOf(name)} was written long ago and is now version ${version}`)
    this.#highest = Math.max(this.#highest, version)
    this.#names.set(version, name)
    this.#versions.set(name, version)
  }

  #overtake(name: Name): void {
    const writer = writerOf(name)
    this.#overtaken.set(writer, Math.max(numberOf(name), this.#overtaken.get(writer) ?? -1))
  }
}
