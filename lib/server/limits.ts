import type { Clock } from '../async/clock.ts'
import { tooMany } from '../protocol/wire/failures.ts'
import type { RouteName } from '../protocol/wire/routes.ts'
import { networksAround } from './address.ts'

const mib = 1024 * 1024

/**
 * Rate limits: `burst` at once, refilled at `perSecond`. `by` is the rate-limit key: an address (an IPv6
 * /64 counts as one, and its /48 has 16 times as much), a key, an account, or the whole server (the same
 * again for networks with a valid token).
 */
export const limits = {
  /**
   * Signatures to verify, per network and in total: verifying one is the most expensive unauthenticated
   * request.
   */
  login: { by: 'address', burst: 20, perSecond: 1 / 6 },
  everyLogin: { by: 'server', burst: 200, perSecond: 200 },
  /**
   * Valid signatures of one key over unused challenges: each leaves a permanent row. Others are not
   * counted, or anyone could lock its owner out.
   */
  loginOfKey: { by: 'key', burst: 10, perSecond: 1 / 120 },
  /** Keys without an account. */
  newKey: { by: 'address', burst: 3, perSecond: 1 / 3600 },
  nonce: { by: 'address', burst: 60, perSecond: 1 },
  /** New pairing requests. Polls of a waiting one are never rejected: existing clients would give up. */
  pairing: { by: 'address', burst: 5, perSecond: 1 / 60 },
  approval: { by: 'account', burst: 10, perSecond: 1 / 60 },
  /** Lookups of unknown tokens per network. A cached valid token passes. */
  badToken: { by: 'address and token', burst: 30, perSecond: 1 / 2 },
  /** Places for attachments. */
  upload: { by: 'account', burst: 60, perSecond: 1 },
  /** Tests of notifications, each of which rings phones and calls external services. */
  pushTest: { by: 'account', burst: 6, perSecond: 1 / 10 },
  /** Acknowledged arrivals of notifications. */
  pushReceipt: { by: 'account', burst: 60, perSecond: 1 },
  /** All other HTTP requests of an account. */
  api: { by: 'account', burst: 600, perSecond: 50 },
  /** Bytes of messages, posted and read over HTTP; each request counts as at least 1 KiB. */
  messageBytes: { by: 'account', burst: 64 * mib, perSecond: 8 * mib },
  /**
   * Bytes of everything else that an account sends and reads over HTTP, counted alike. Separate, so that
   * reading all messages again leaves room for the rest.
   */
  otherBytes: { by: 'account', burst: 64 * mib, perSecond: 8 * mib },
  /** Packets of all sockets of an account together: as many as eight at the full rate of one. */
  socketPackets: { by: 'account', burst: 16_000, perSecond: 1_600 },
  /** Bytes of events from all sockets of an account together. */
  socketBytes: { by: 'account', burst: 128 * mib, perSecond: 12.8 * mib },
  /** Bytes of answers to events: documents, and current values after a conflict. */
  socketAnswers: { by: 'account', burst: 64 * mib, perSecond: 8 * mib },
  /** Sockets that connect: each has its own rate, so that frequent reconnects would multiply it. */
  connects: { by: 'account', burst: 256, perSecond: 4 }
} as const satisfies Record<string, { by: string; burst: number; perSecond: number }>

export type LimitName = keyof typeof limits

/** The minimum that a request counts as. */
export const leastBytes = 1024

/** Whether it counts bytes, which are only known once they have arrived. */
export function isOfBytes(name: LimitName): boolean {
  return name === 'messageBytes' || name === 'otherBytes'
}

/** Open sockets of one account. */
export const mostSockets = 64

/**
 * What a request counts as before its body is accepted. Those with a token and without a row here count as
 * `api`, and those without `messageBytes` as `otherBytes`.
 */
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

/**
 * The number of tracked keys of one kind is bounded, so that limits cannot fill the memory; the oldest of
 * the largest network are forgotten first.
 */
export const mostTracked = 100_000

/** Anyone can invent tokens endlessly: those of one network make room for one another, and for nothing else. */
export const mostBadTokens = { ofNetwork: 100, networks: 1_000 }

/** Counts requests. Keys of different limits are separate. */
export interface Limits {
  /** Pairing requests waiting at once; undefined for any number. */
  readonly mostPairings: { here: number; inAll: number } | undefined
  /** Throws the error that says when to retry, and then counts nothing. */
  check(name: LimitName, key: string): void
  /** Like `check`, then counts one. */
  take(name: LimitName, key: string): void
  /** Counts work already done, however large: the next request waits longer. */
  charge(name: LimitName, key: string, cost: number): void
}

export const unlimited: Limits = { mostPairings: undefined, check() {}, take() {}, charge() {} }

/** When the full allowance of a key would be available again. */
type Tracked = Map<string, number>

type By = (typeof limits)[LimitName]['by']

/** An attacker with one IPv6 /64 gets a whole /48 as cheaply: together these may have this many times as much. */
const timesOf48 = 16

/** Limits of this instance, with what it takes to count together with others. */
export interface CountedLimits extends Limits {
  readonly tracked: number
  /** How long until the full allowance of a key is available again. A key is one of those given to the listener of `onCharged`. */
  owedMs(name: LimitName, key: string): number
  /** Has all that is charged here told, in the time that the allowance of the key takes to grow by it. One listener. */
  onCharged(listener: (name: LimitName, key: string, ms: number) => void): void
  /** Counts what was charged elsewhere so long ago; nothing of it is told. */
  chargeElsewhere(name: LimitName, key: string, ms: number, agoMs: number): void
}

export function createLimits({ clock }: { clock: Pick<Clock, 'now'> }): CountedLimits {
  // Keys that anyone can invent never evict those that they cannot.
  const tables: Record<By, Table> = {
    address: new Table(clock, key => networksAround(key)[0] ?? ''),
    key: new Table(clock),
    account: new Table(clock),
    server: new Table(clock),
    'address and token': new Table(clock, networkIn, { inAll: mostBadTokens.ofNetwork * mostBadTokens.networks, ...mostBadTokens })
  }
  let tell: Parameters<CountedLimits['onCharged']>[0] | undefined

  function check(name: LimitName, key: string): void {
    const { by, burst, perSecond } = limits[name]
    for (const [each, times] of countedAs(by, key)) {
      const tooMuch = tables[by].owedMs(name, each) - ((times * burst - 1) / (times * perSecond)) * 1000
      // Sums of fractions end slightly above their true value.
      if (tooMuch > 0.001) throw tooMany(Math.ceil(tooMuch / 1000))
    }
  }

  function charge(name: LimitName, key: string, cost: number): void {
    const { by, perSecond } = limits[name]
    for (const [each, times] of countedAs(by, key)) {
      const ms = (cost / (times * perSecond)) * 1000
      tables[by].owe(name, each, ms)
      tell?.(name, each, ms)
    }
  }

  return {
    mostPairings: { here: 8, inAll: 1_000 },
    check,
    charge,
    take(name, key) {
      check(name, key)
      charge(name, key, 1)
    },
    owedMs: (name, key) => tables[limits[name].by].owedMs(name, key),
    onCharged(listener) {
      tell = listener
    },
    chargeElsewhere: (name, key, ms, agoMs) => tables[limits[name].by].owe(name, key, ms, agoMs),
    get tracked() {
      return Object.values(tables).reduce((sum, { size }) => sum + size, 0)
    }
  }
}

/** The rate-limit key for a key, and how many times the allowance it has. */
function countedAs(by: By, key: string): [key: string, times: number][] {
  const own: [string, number] = [key, 1]
  return by === 'address' && key.includes(':') ? [own, [`${key.slice(0, 14)}::/48`, timesOf48]] : [own]
}

type TableMost = { inAll: number; ofNetwork?: number; networks?: number }

/** The debts of all keys of one kind. If there are too many, the crowd with the most makes room. */
class Table {
  readonly #clock: Pick<Clock, 'now'>
  readonly #crowdOf: (key: string) => string
  readonly #most: TableMost
  /** In order of arrival, as are the keys in each. Moving frequent ones to the end makes a large map slow. */
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

  /** `agoMs` is how long ago it was used: what has grown again since then is not owed. */
  owe(name: LimitName, key: string, ms: number, agoMs = 0): void {
    const crowd = this.#crowdOf(key)
    const id = `${name} ${key}`
    const wholeAt = Math.max(this.#crowds.get(crowd)?.get(id) ?? 0, this.#clock.now() - agoMs) + ms
    if (wholeAt <= this.#clock.now()) return
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
    // Several at once, since finding the largest of many takes a while.
    if (largest) this.#drop(...largest, Math.ceil(largest[1].size / 100))
  }

  /** The oldest ones. */
  #drop(crowd: string, keys: Tracked, count: number): void {
    for (const key of [...keys.keys().take(count)]) keys.delete(key)
    this.size -= count
    if (keys.size === 0) this.#crowds.delete(crowd)
  }
}

/** The key of an invalid token is its network, a space and its hash. */
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

  /** False if all are taken. Each one taken must be released, once. */
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
