import { RowDamaged } from './store.ts'

/** Remembers which rows were found damaged, so that each counts once however often it is read. */
export interface Damage {
  /** `row` identifies it among all others, such as `message 3 of 7`. */
  note(row: string): RowDamaged
  count(): number
}

export function openDamage(): Damage {
  const found = new Set<string>()
  return {
    note(row) {
      found.add(row)
      return new RowDamaged(`The row ${row} is not what was stored.`)
    },
    count: () => found.size
  }
}
