import { signal } from '@preact/signals'

/** When a session was removed and on which device, if the removal was received live. */
interface Removal {
  readonly at?: number
  /** The id of the device. */
  readonly by?: string | undefined
}

export const removals = signal<ReadonlyMap<string, Removal>>(new Map())

export function noteRemoval({ id, at, by }: Removal & { readonly id: string }): void {
  if (at !== undefined) removals.value = new Map(removals.peek()).set(id, { at, by })
}
