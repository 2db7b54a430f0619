import { RowDamaged } from '../lib/store/store.ts'

/** Remembers which messages were found damaged, so that each counts once however often it is read. */
export interface Damage {
  note(session: number, seq: number): RowDamaged
  count(): number
}

export function openDamage(): Damage {
  const found = new Set<string>()
  return {
    note(session, seq) {
      found.add(`${session} ${seq}`)
      return new RowDamaged(`Message ${seq} of session row ${session} is not what was stored.`)
    },
    count: () => found.size
  }
}
