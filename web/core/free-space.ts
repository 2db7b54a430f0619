import { type ReadonlySignal, signal } from '@preact/signals'

const fullNow = signal(false)

/** True after the browser failed to store something for lack of space, until it stores something again. */
export const isFull: ReadonlySignal<boolean> = fullNow

const serverFullNow = signal(false)

/** True while the server rejects messages of this account for lack of space; they wait here. */
export const isServerFull: ReadonlySignal<boolean> = serverFullNow

export function noteServerSpace(isFull: boolean): void {
  serverFullNow.value = isFull
}

/** Runs an action that stores something. Rejects as it does. */
export async function withSpaceCheck<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work()
    fullNow.value = false
    return result
  } catch (error) {
    if (error instanceof DOMException && error.name === 'QuotaExceededError') fullNow.value = true
    throw error
  }
}
