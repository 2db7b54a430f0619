import type { BusEvent, Change, StoredChange } from './bus.ts'

/**
 * What a bus publishes in place of an event that is too large for it; undefined if the event is not in the store, as signals
 * and calls are not.
 */
export function referenceTo(event: BusEvent): BusEvent | undefined {
  if (event.type !== 'change') return undefined
  const { change, ...rest } = event
  const stored = storedChange(change)
  return stored && { ...rest, type: 'large-change', stored }
}

function storedChange(change: Change): StoredChange | undefined {
  switch (change.type) {
    case 'session-opened':
      return { type: change.type, session: change.session.id }
    case 'machine-opened':
      return { type: change.type, machine: change.machine.id }
    case 'artifact-opened':
      return { type: change.type, artifact: change.artifact.id }
    case 'artifact-written':
      return { type: change.type, artifact: change.id, parts: artifactParts.filter(part => change[part]) }
    case 'kv-written':
      return { type: change.type, keys: change.changes.map(({ key, version }) => ({ key, version })) }
    case 'cell-written':
      return { type: change.type, cell: change.cell }
    case 'messages-added': {
      const [first, last] = [change.messages[0], change.messages.at(-1)]
      return first && last && { type: change.type, session: change.session, first: first.seq, last: last.seq }
    }
    case 'row-removed':
    case 'receipts-marked':
      return undefined
  }
}

const artifactParts = ['header', 'body'] as const
