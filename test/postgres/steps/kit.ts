import fc from 'fast-check'
import type { AccountId, TokenId } from '../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { DueDelivery } from '../../../lib/store/notices.ts'
import { noQuotas, type Quotas } from '../../../lib/store/quotas.ts'
import type { Store } from '../../../lib/store/store.ts'

/** What one store was told so far, and what the next step goes by. */
export interface Play {
  store: Store
  /** How many steps came before. */
  step: number
  now: number
  /** How long was waited between steps. */
  waited: number
  /** Tokens by the order in which they were made, with their hashes. */
  tokens: TokenId[]
  /** What was claimed last, by the keys of this store. */
  claimed: DueDelivery[]
}

/** One call of a store, described by what it was made of. */
export interface Step {
  run(play: Play): Promise<unknown>
  toString(): string
}

export type Steps = fc.Arbitrary<Step>

/** A step for every value of the arbitraries. */
export function step<Given extends object>(
  name: string,
  given: { [Name in keyof Given]: fc.Arbitrary<Given[Name]> },
  run: (play: Play, given: Given) => Promise<unknown>
): Steps {
  return fc.record<Given>(given).map(values => ({
    run: play => run(play, values as Given),
    toString: () => `${name} ${JSON.stringify(values)}`
  }))
}

const minuteMs = 60_000
/** Most of what happens takes no time, and seldom a day passes. */
export const wait = step('wait', { ms: fc.constantFrom(30, 30, 30, 30, 200, 2 * minuteMs, 25 * 60 * minuteMs) }, async (play, { ms }) => {
  play.waited += ms
})

/** Any order is right. */
export const unordered = (list: readonly unknown[]) => list.map(each => JSON.stringify(each)).toSorted()

export const accountNamed = (name: string) => v.parse(ids.accountId, `account-${name}`)
export const who: fc.Arbitrary<AccountId> = fc.constantFrom('ann', 'ann', 'ann', 'bob').map(accountNamed)
export const text = fc
  .constantFrom('x', '', 'longer than the others', 'ß', '👍 \u{10ffff}', '\\x00 % _ \'"')
  .map(value => v.parse(ids.sealed, value))
/** Not where PostgreSQL itself counts the bytes: there a U+0000 takes two. */
export const anyText = fc.oneof(
  text,
  fc.constantFrom('a\u0000b', '\u0001', '\u0001\u0000\u0002').map(value => v.parse(ids.sealed, value))
)
export const session = fc.constantFrom('s1', 's2', 'S3').map(name => v.parse(ids.sessionId, name))
export const machine = fc.constantFrom('m1', 'M2').map(name => v.parse(ids.machineId, name))
export const small = fc.nat(3)

const few: Quotas = {
  sessions: 2,
  messages: 4,
  bytes: 60,
  stateBytes: 900,
  machines: 1,
  artifacts: 1,
  devices: 2,
  pushTokens: 1,
  notices: 2,
  kvKeys: 2,
  kvValueBytes: 12,
  usageReports: 1
}
export const quotas = fc.oneof({ weight: 6, arbitrary: fc.constant(noQuotas) }, { weight: 1, arbitrary: fc.constant(few) })
