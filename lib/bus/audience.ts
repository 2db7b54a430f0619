import type { Audience, Change } from './bus.ts'

/** Who gets a change besides the apps of the account. */
export function audienceOf(change: Change): Audience {
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
