import type { Clock } from '../async/clock.ts'
import { tooMany } from '../protocol/wire/failures.ts'
import type { RouteName } from '../protocol/wire/routes.ts'

const mib = 1024 * 1024

/**
 * What callers may ask for in a time: `burst` at once, and `perSecond` of it comes back. `by` says who has one such
 * allowance: an address (an IPv6 /64 counts as one), a key, an account, or the whole server.
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
  messageBytes: { by: 'account', burst: 64 * mib, perSecond: 8 * mib }
} as const satisfies Record<string, { by: string; burst: number; perSecond: number }>

export type LimitName = keyof typeof limits

/** What a request for messages counts as when it is smaller. */
export const leastMessageBytes = 1024

/** Live sockets of one address, and of one account. */
export const mostSockets = 64

/** What a request counts as before its body is taken. Those with a token and without a row here count as `api`. */
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
  return limitsOfRoute[name] ?? (hasToken ? ['api'] : [])
}

/** No more are tracked at once, so that the limits are no way to fill the memory; who came longest ago is forgotten first. */
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

/** When the allowance of a key would be whole again, in the order of last use. */
type Tracked = Map<string, number>

export function createLimits({ clock }: { clock: Pick<Clock, 'now'> }): Limits & { readonly tracked: number } {
  const others: Tracked = new Map()
  const badTokens = new Map<string, Tracked>()

  const tracked = (name: LimitName, key: string) => (name === 'badToken' ? badTokens.get(networkIn(key)) : others)
  const owedMs = (name: LimitName, key: string): number => Math.max((tracked(name, key)?.get(idOf(name, key)) ?? 0) - clock.now(), 0)

  function check(name: LimitName, key: string): void {
    const { burst, perSecond } = limits[name]
    const tooMuch = owedMs(name, key) - ((burst - 1) / perSecond) * 1000
    // Sums of fractions end a little above what they should.
    if (tooMuch > 0.001) throw tooMany(Math.ceil(tooMuch / 1000))
  }

  function charge(name: LimitName, key: string, cost: number): void {
    const wholeAt = clock.now() + owedMs(name, key) + (cost / limits[name].perSecond) * 1000
    if (name !== 'badToken') {
      setNewest(others, idOf(name, key), wholeAt, mostTracked)
      return
    }
    const network = networkIn(key)
    const tokens: Tracked = badTokens.get(network) ?? new Map()
    setNewest(badTokens, network, tokens, mostBadTokens.networks)
    setNewest(tokens, idOf(name, key), wholeAt, mostBadTokens.ofNetwork)
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
      let count = others.size
      for (const tokens of badTokens.values()) count += tokens.size
      return count
    }
  }
}

function idOf(name: LimitName, key: string): string {
  return `${name} ${key}`
}

/** The key of a bad token is its network, a blank and its hash. */
function networkIn(key: string): string {
  return key.slice(0, key.lastIndexOf(' ') + 1)
}

function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key)
  const oldest = map.size >= most ? map.keys().next().value : undefined
  if (oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}

/** Counts what is held at once. */
export class Seats {
  private readonly most: number
  private readonly takenBy = new Map<string, number>()

  constructor(most: number) {
    this.most = most
  }

  /** False when all are taken. Whoever takes one gives it back, once. */
  take(key: string): boolean {
    const taken = this.takenBy.get(key) ?? 0
    if (taken >= this.most) return false
    this.takenBy.set(key, taken + 1)
    return true
  }

  leave(key: string): void {
    const taken = this.takenBy.get(key) ?? 0
    if (taken > 1) this.takenBy.set(key, taken - 1)
    else this.takenBy.delete(key)
  }
}
