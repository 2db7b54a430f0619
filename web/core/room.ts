import { type ReadonlySignal, signal } from '@preact/signals'

const fullNow = signal(false)

/** True since the browser refused to keep something for want of room, until it keeps something again. */
export const isFull: ReadonlySignal<boolean> = fullNow

const serverFullNow = signal(false)

/** True while the server takes no message of this account for want of room; they wait here. */
export const isServerFull: ReadonlySignal<boolean> = serverFullNow

export function noteServerRoom(isFull: boolean): void {
  serverFullNow.value = isFull
}

/** Does what keeps something. Rejects like it. */
export async function keeping<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work()
    fullNow.value = false
    return result
  } catch (error) {
    if (error instanceof DOMException && error.name === 'QuotaExceededError') fullNow.value = true
    throw error
  }
}
