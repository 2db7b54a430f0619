import type { Clock } from '../async/clock.ts'
import { tooMany } from '../protocol/wire/failures.ts'
import type { RouteName } from '../protocol/wire/routes.ts'
import { networksAround } from './address.ts'

const mib = 1024 * 1024

/**
 * What callers may ask for in a time: `burst` at once, and `perSecond` of it comes back. `by` says who has one such
 * allowance: an address (an IPv6 /64 counts as one, and its /48 has 16 times as much), a key, an account, or the whole server
 * (as much again for the networks that a valid token came from).
 */
export const limits = {
  /** Signatures to check, from one place and in all: checking one costs more than anything else a stranger can ask for. */
  login: { by: 'address', burst: 20, perSecond: 1 / 6 },
  everyLogin: { by: 'server', burst: 200, perSecond: 200 },
  /** Good signatures of one key over challenges not used before: each leaves a row for ever. Others are not counted, else anybody could lock its owner out. */
  loginOfKey: { by: 'key', burst: 10, perSecond: 1 / 120 },
  /** Keys that nobody has signed in with before. */
  newKey: { by: 'address', burst: 3, perSecond: 1 / 3600 },
  nonce: { by: 'address', burst: 60, perSecond: 1 },
  /** Pairing requests that begin. The polls of one that waits are never refused: existing clients would give up. */
  pairing: { by: 'address', burst: 5, perSecond: 1 / 60 },
  approval: { by: 'account', burst: 10, perSecond: 1 / 60 },
  /** Look-ups of one unknown token from one place. A good token that is remembered passes. */
  badToken: { by: 'address and token', burst: 30, perSecond: 1 / 2 },
  /** Places for attachments. */
  upload: { by: 'account', burst: 60, perSecond: 1 },
  /** Tests of notifications, each of which rings phones and asks services of others. */
  pushTest: { by: 'account', burst: 6, perSecond: 1 / 10 },
  /** Arrivals of notifications. */
  pushReceipt: { by: 'account', burst: 60, perSecond: 1 },
  /** Everything else an account asks for over HTTP. */
  api: { by: 'account', burst: 600, perSecond: 50 },
  /** Bytes of messages, posted and read over HTTP; each request counts as 1 KiB at least. */
  messageBytes: { by: 'account', burst: 64 * mib, perSecond: 8 * mib },
  /** Bytes of everything else that an account sends and reads over HTTP, counted alike. Of their own, so that who reads all messages anew can still do the rest. */
  otherBytes: { by: 'account', burst: 64 * mib, perSecond: 8 * mib },
  /** Packets that all sockets of an account send together: as many as eight that send as fast as one may. */
  socketPackets: { by: 'account', burst: 16_000, perSecond: 1_600 },
  /** Bytes of events that all sockets of an account send together. */
  socketBytes: { by: 'account', burst: 128 * mib, perSecond: 12.8 * mib },
  /** Bytes that events are answered with: documents, and what stands where another version was expected. */
  socketAnswers: { by: 'account', burst: 64 * mib, perSecond: 8 * mib },
  /** Sockets that come alive: each has a pace of its own, so that whoever comes back often would have many. */
  connects: { by: 'account', burst: 256, perSecond: 4 }
} as const satisfies Record<string, { by: string; burst: number; perSecond: number }>

export type LimitName = keyof typeof limits

/** What a request counts as when it is smaller. */
export const leastBytes = 1024

/** Whether what it allows are bytes, which are known only when they are there. */
export function isOfBytes(name: LimitName): boolean {
  return name === 'messageBytes' || name === 'otherBytes'
}

/** Live sockets of one account. */
export const mostSockets = 64

/** What a request counts as before its body is taken. Those with a token and without a row here count as `api`, and those without `messageBytes` as `otherBytes`. */
const limitsOfRoute: Partial<Record<RouteName, readonly LimitName[]>> = {
  signIn: ['login', 'everyLogin'],
  freshSignIn: ['login', 'everyLogin'],
  issueNonce: ['nonce'],
  removeOwnAccount: ['login'],
  askPairing: ['pairing'],
  approvePairing: ['approval'],
  openInvite: ['login'],
  answerTerminalPairing: ['approval'],
  answerDevicePairing: ['approval'],
  requestUpload: ['upload'],
  testNotification: ['pushTest'],
  acknowledgePush: ['pushReceipt'],
  appendMessages: ['messageBytes'],
  readMessages: ['messageBytes'],
  readLatestMessages: ['messageBytes']
}

export function limitsOf(name: RouteName, hasToken: boolean): readonly LimitName[] {
  const names = limitsOfRoute[name] ?? (hasToken ? ['api'] : [])
  return hasToken && !names.includes('messageBytes') ? [...names, 'otherBytes'] : names
}

/** No more keys of one kind are tracked at once, so that the limits are no way to fill the memory; of the largest network those that came first are forgotten first. */
export const mostTracked = 100_000

/** Anybody can make up tokens without end: those of one network make room for one another, and for nothing else. */
export const mostBadTokens = { ofNetwork: 100, networks: 1_000 }

/** Counts what callers ask for. Keys of different limits never meet. */
export interface Limits {
  /** Pairing requests that wait at once; undefined for any number. */
  readonly mostPairings: { here: number; inAll: number } | undefined
  /** Throws the refusal that says when to come back, and then counts nothing. */
  check(name: LimitName, key: string): void
  /** As `check`, then counts one. */
  take(name: LimitName, key: string): void
  /** Counts what was done already, however much it was: who comes next waits the longer. */
  charge(name: LimitName, key: string, cost: number): void
}

export const unlimited: Limits = { mostPairings: undefined, check() {}, take() {}, charge() {} }

/** When the allowance of a key would be whole again. */
type Tracked = Map<string, number>

type By = (typeof limits)[LimitName]['by']

/** Whoever has one /64 of IPv6 has a whole /48 as cheaply: together these may have so many times as much. */
const timesOf48 = 16

export function createLimits({ clock }: { clock: Pick<Clock, 'now'> }): Limits & { readonly tracked: number } {
  // Keys that strangers can make up without end never push out those that they cannot.
  const tables: Record<By, Table> = {
    address: new Table(clock, key => networksAround(key)[0] ?? ''),
    key: new Table(clock),
    account: new Table(clock),
    server: new Table(clock),
    'address and token': new Table(clock, networkIn, { inAll: mostBadTokens.ofNetwork * mostBadTokens.networks, ...mostBadTokens })
  }

  function check(name: LimitName, key: string): void {
    const { by, burst, perSecond } = limits[name]
    for (const [each, times] of countedAs(by, key)) {
      const tooMuch = tables[by].owedMs(name, each) - ((times * burst - 1) / (times * perSecond)) * 1000
      // Sums of fractions end a little above what they should.
      if (tooMuch > 0.001) throw tooMany(Math.ceil(tooMuch / 1000))
    }
  }

  function charge(name: LimitName, key: string, cost: number): void {
    const { by, perSecond } = limits[name]
    for (const [each, times] of countedAs(by, key)) tables[by].owe(name, each, (cost / (times * perSecond)) * 1000)
  }

  return {
    mostPairings: { here: 8, inAll: 1_000 },
    check,
    charge,
    take(name, key) {
      check(name, key)
      charge(name, key, 1)
    },
    get tracked() {
      return Object.values(tables).reduce((sum, { size }) => sum + size, 0)
    }
  }
}

/** What a key counts as, and how many times the allowance that has. */
function countedAs(by: By, key: string): [key: string, times: number][] {
  const own: [string, number] = [key, 1]
  return by === 'address' && key.includes(':') ? [own, [`${key.slice(0, 14)}::/48`, timesOf48]] : [own]
}

type TableMost = { inAll: number; ofNetwork?: number; networks?: number }

/** What all keys of one kind owe. Where there are too many, the crowd that has the most makes room. */
class Table {
  readonly #clock: Pick<Clock, 'now'>
  readonly #crowdOf: (key: string) => string
  readonly #most: TableMost
  /** In the order of coming, as are the keys in each. To move what is used often to the end makes a large map slow. */
  readonly #crowds = new Map<string, Tracked>()
  size = 0

  constructor(clock: Pick<Clock, 'now'>, crowdOf: (key: string) => string = () => '', most: TableMost = { inAll: mostTracked }) {
    this.#clock = clock
    this.#crowdOf = crowdOf
    this.#most = most
  }

  owedMs(name: LimitName, key: string): number {
    return Math.max((this.#crowds.get(this.#crowdOf(key))?.get(`${name} ${key}`) ?? 0) - this.#clock.now(), 0)
  }

  owe(name: LimitName, key: string, ms: number): void {
    const wholeAt = this.#clock.now() + this.owedMs(name, key) + ms
    const crowd = this.#crowdOf(key)
    const id = `${name} ${key}`
    if (!this.#crowds.get(crowd)?.has(id)) this.#makeRoomIn(crowd)
    const keys = this.#crowds.get(crowd) ?? new Map<string, number>()
    if (!keys.has(id)) this.size += 1
    keys.set(id, wholeAt)
    this.#crowds.set(crowd, keys)
  }

  #makeRoomIn(crowd: string): void {
    const { inAll, ofNetwork = inAll, networks = inAll } = this.#most
    const own = this.#crowds.get(crowd)
    if (own && own.size >= ofNetwork) this.#drop(crowd, own, 1)
    if (!own && this.#crowds.size >= networks) {
      const [oldest] = this.#crowds
      if (oldest) this.#drop(...oldest, oldest[1].size)
    }
    if (this.size < inAll) return
    let largest: [string, Tracked] | undefined
    for (const each of this.#crowds) if (!largest || each[1].size > largest[1].size) largest = each
    // A part of it at once, since it takes a while to find the largest of many.
    if (largest) this.#drop(...largest, Math.ceil(largest[1].size / 100))
  }

  /** The oldest so many. */
  #drop(crowd: string, keys: Tracked, count: number): void {
    for (const key of [...keys.keys().take(count)]) keys.delete(key)
    this.size -= count
    if (keys.size === 0) this.#crowds.delete(crowd)
  }
}

/** The key of a bad token is its network, a blank and its hash. */
function networkIn(key: string): string {
  return key.slice(0, key.lastIndexOf(' ') + 1)
}

/** Counts what is held at once. */
export class Seats {
  readonly #most: number
  readonly #takenBy = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** False when all are taken. Whoever takes one gives it back, once. */
  take(key: string): boolean {
    const taken = this.#takenBy.get(key) ?? 0
    if (taken >= this.#most) return false
    this.#takenBy.set(key, taken + 1)
    return true
  }

  leave(key: string): void {
    const taken = this.#takenBy.get(key) ?? 0
    if (taken > 1) this.#takenBy.set(key, taken - 1)
    else this.#takenBy.delete(key)
  }
}
