import { audienceOf } from '../bus/audience.ts'
import { accountTopic, type Change } from '../bus/bus.ts'
import type { Caller, Deps } from './deps.ts'

/** Publishes a stored change to every instance. */
export function announce(
  { bus, now }: Pick<Deps, 'bus' | 'now'>,
  caller: Pick<Caller, 'account' | 'skip'>,
  clock: number,
  change: Change
): void {
  bus.publish(accountTopic(caller.account), { type: 'change', clock, at: now(), skip: caller.skip, audience: audienceOf(change), change })
}
