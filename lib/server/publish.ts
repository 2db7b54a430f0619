import { type Audience, accountTopic, type Change } from '../bus/bus.ts'
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

function audienceOf(change: Change): Audience {
  switch (change.type) {
    case 'session-opened':
    case 'row-removed':
    case 'artifact-opened':
    case 'artifact-written':
    case 'kv-written':
      return 'apps'
    case 'machine-opened':
      return { of: 'machine', id: change.machine.id }
    case 'messages-added':
    case 'receipts-marked':
      return { of: 'session', id: change.session }
    case 'cell-written':
      return change.cell.of === 'account' ? 'apps' : change.cell
  }
}
