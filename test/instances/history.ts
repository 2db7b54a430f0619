import { contentOf, type Name, nameFrom, numberOf, textOf, writerOf } from './names.ts'

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

/** What all clients were told, at every instance. What contradicts something told before, or a rule, is a complaint at once. */
export class History {
  readonly complaints: string[] = []
  readonly outcomes = { ok: 0, maybe: 0 }
  readonly sessions = new Map<string, SessionHistory>()
  readonly settings = new Map<string, SettingsHistory>()
  seenLive = 0
  connections = 0

  get operations(): number {
    return this.outcomes.ok + this.outcomes.maybe
  }

  ended(outcome: Outcome): void {
    this.outcomes[outcome] += 1
  }

  session(id: string): SessionHistory {
    const session = this.sessions.get(id) ?? new SessionHistory(what => this.complain(`session ${id}: ${what}`))
    this.sessions.set(id, session)
    return session
  }

  settingsOf(account: string): SettingsHistory {
    const settings = this.settings.get(account) ?? new SettingsHistory(what => this.complain(`settings of ${account}: ${what}`))
    this.settings.set(account, settings)
    return settings
  }

  complain(what: string): void {
    this.complaints.push(what)
  }
}

/** Of one writer: all below `next`, and some ahead. */
interface StoredNumbers {
  next: number
  ahead: Set<number>
}

type Complain = (what: string) => void

export class SessionHistory {
  /** What is at each number, as soon as anybody was told. */
  readonly #names: (Name | undefined)[] = []
  /** Of each writer, how many of its messages were acknowledged. */
  readonly #acknowledged = new Map<number, number>()
  /** The writers that send several requests without waiting: the repetition of a failed one may come after a later one. */
  readonly #unordered = new Set<number>()
  readonly #complain: Complain

  constructor(complain: Complain) {
    this.#complain = complain
  }

  /** The highest number that anybody was told. From then on every read has it, at every instance. */
  get highest(): number {
    return Math.max(0, this.#names.length - 1)
  }

  mayOvertakeItself(writer: number): void {
    this.#unordered.add(writer)
  }

  shown({ seq, localId, content }: ShownMessage, how: string): void {
    const name = nameFrom(localId)
    if (name === undefined) {
      this.#complain(`${seq} was ${how} as ${localId}, which nobody wrote`)
      return
    }
    if (content !== contentOf(name)) this.#complain(`${seq} (${localId}) was ${how} with another content`)
    this.#settle(seq, name, how)
  }

  /** A writer was told the numbers of messages that it sent in one request, in this order. */
  answered(sent: readonly Name[], told: readonly { seq: number; localId: string | null }[]): void {
    if (told.length !== sent.length) this.#complain(`of ${sent.length} messages ${told.length} were acknowledged`)
    let last = 0
    for (const [index, name] of sent.entries()) {
      const { seq = 0, localId = null } = told[index] ?? {}
      if (nameFrom(localId) !== name) {
        this.#complain(`${textOf(name)} was acknowledged as ${localId}`)
        continue
      }
      if (seq <= last) this.#complain(`${textOf(name)} got ${seq}, and what stood before it in its request ${last}`)
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
  page(messages: readonly ShownMessage[], ask: { cursor: number; more: boolean; known: number }): void {
    messages.forEach((message, index) => {
      const next = ask.cursor + index + 1
      if (message.seq !== next) this.#complain(`a reader at ${next - 1} got ${message.seq} next`)
      this.shown(message, 'read')
    })
    const end = ask.cursor + messages.length
    if (!ask.more && end < ask.known) this.#complain(`a reader was told that ${end} is the last, and ${ask.known} had been told before`)
  }

  /** Live on one connection, which had got `last` before, or had read to there. */
  live(message: ShownMessage, last: number | undefined): void {
    if (last !== undefined && message.seq !== last + 1) this.#complain(`a connection got ${message.seq} after ${last}`)
    this.shown(message, 'sent live')
  }

  /** Everything that is stored, from its beginning: whatever was told is there, once, and each writer's in its order. */
  *audit(): Generator<undefined, void, ShownMessage | undefined> {
    const stored = new Map<number, StoredNumbers>()
    let count = 0
    for (let message = yield; message !== undefined; message = yield) {
      count += 1
      if (message.seq !== count) this.#complain(`${message.seq} stands where ${count} belongs`)
      this.shown(message, 'at the end')
      const name = nameFrom(message.localId)
      if (name !== undefined) this.#store(stored, name)
    }
    if (count < this.highest) this.#complain(`${count} messages are there, and ${this.highest} had been told`)
    for (const [writer, many] of this.#acknowledged) {
      const next = stored.get(writer)?.next ?? 0
      if (next < many) this.#complain(`${writer}.${next} was acknowledged and is lost`)
    }
  }

  #store(all: Map<number, StoredNumbers>, name: Name): void {
    const writer = writerOf(name)
    const stored = all.get(writer) ?? { next: 0, ahead: new Set() }
    all.set(writer, stored)
    const number = numberOf(name)
    if (number < stored.next || stored.ahead.has(number)) this.#complain(`${textOf(name)} is there twice`)
    else stored.ahead.add(number)
    if (number > stored.next && !this.#unordered.has(writer)) this.#complain(`${textOf(name)} came before ${writer}.${stored.next}`)
    while (stored.ahead.delete(stored.next)) stored.next += 1
  }

  #settle(seq: number, name: Name, how: string): void {
    const before = this.#names[seq]
    if (before !== undefined && before !== name) this.#complain(`${seq} was ${textOf(before)} and is now ${how} as ${textOf(name)}`)
    // Without holes, an array takes eight bytes for each.
    while (this.#names.length < seq) this.#names.push(undefined)
    this.#names[seq] = name
  }
}

/** Settings of an account, which are replaced only by who knows their version: each version has one winner. */
export class SettingsHistory {
  readonly #names: (Name | undefined)[] = [undefined]
  readonly #refused = new Set<Name>()
  readonly #versions = new Map<Name, number>()
  readonly #complain: Complain

  constructor(complain: Complain) {
    this.#complain = complain
  }

  /** The highest version that anybody was told. */
  get highest(): number {
    return this.#names.length - 1
  }

  /** A writer that knew a version has replaced it. */
  won(name: Name, { expected, version }: { expected: number; version: number }): void {
    if (version !== expected + 1) this.#complain(`${textOf(name)} replaced version ${expected} and got ${version}`)
    this.#settle(version, name, 'written')
  }

  /** A writer was told that its version is not the present one. */
  refused(name: Name): void {
    const version = this.#versions.get(name)
    if (version !== undefined) this.#complain(`${textOf(name)} was refused and is version ${version}`)
    this.#refused.add(name)
  }

  /** `known` was the highest version that anybody had been told when it was requested; live, there is none. */
  shown({ version, value }: { version: number; value: string | null }, how: string, known = 0): void {
    if (version < known) this.#complain(`version ${version} was ${how} after ${known} had been told`)
    if (version === 0) return
    const name = nameFrom(value)
    if (name === undefined) this.#complain(`version ${version} was ${how} as ${value}, which nobody wrote`)
    else this.#settle(version, name, how)
  }

  /** Live on one connection, which had got `last` before. */
  live(cell: { version: number; value: string | null }, last: number | undefined): void {
    if (last !== undefined && cell.version <= last) this.#complain(`a connection got version ${cell.version} after ${last}`)
    this.shown(cell, 'sent live')
  }

  /** At the end, when nobody writes. */
  audit({ version, value }: { version: number; value: string | null }): void {
    this.shown({ version, value }, 'at the end', this.highest)
    if (version > this.highest) this.#complain(`version ${version} is there, and nobody was told more than ${this.highest}`)
  }

  #settle(version: number, name: Name, how: string): void {
    const before = this.#names[version]
    if (before !== undefined && before !== name)
      this.#complain(`version ${version} was ${textOf(before)} and is now ${how} as ${textOf(name)}`)
    const other = this.#versions.get(name)
    if (other !== undefined && other !== version) this.#complain(`${textOf(name)} is version ${other} and version ${version}`)
    if (this.#refused.has(name)) this.#complain(`${textOf(name)} was refused and is version ${version}`)
    while (this.#names.length < version) this.#names.push(undefined)
    this.#names[version] = name
    this.#versions.set(name, version)
  }
}
