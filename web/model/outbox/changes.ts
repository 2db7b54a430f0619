/** A message that has not left was changed from outside its session; without a text it was taken back. */
export interface LeavingChange {
  readonly session: string
  readonly localId: string
  readonly text: string | undefined
}

const listeners = new Set<(change: LeavingChange) => void>()

export function onLeaving(listener: (change: LeavingChange) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function tellLeaving(change: LeavingChange): void {
  for (const listener of listeners) listener(change)
}
