import { type ReadonlySignal, signal } from '@preact/signals'
import { isOn } from './preferences.ts'

/** What carries this device's bytes. Some browsers tell it, and when it changes; of others nothing is known. */
interface Carrier extends EventTarget {
  readonly type?: string
}

/** A photo waits: for another network, or, where none is told, only for a word of its owner. */
export type WaitsFor = 'wifi' | 'word'

const largeBytes = 1_000_000

/** What a photo has to wait for that would go up now. Only with little data, and only a large one. */
export function photoWaitsFor({ mimeType = '', size }: { mimeType?: string | undefined; size: number }): WaitsFor | undefined {
  if (!isOn('lowData') || !mimeType.startsWith('image/') || size <= largeBytes) return undefined
  if (carried.value === 'wifi' || carried.value === 'ethernet') return undefined
  return carried.value === 'cellular' ? 'wifi' : 'word'
}

const carrier: Carrier | undefined =
  typeof navigator === 'undefined' || !('connection' in navigator) ? undefined : toCarrier(navigator.connection)
const carriedNow = signal(carrier?.type)
const carried: ReadonlySignal<string | undefined> = carriedNow
carrier?.addEventListener('change', () => {
  carriedNow.value = carrier.type
})

function toCarrier(told: unknown): Carrier | undefined {
  return told instanceof EventTarget ? told : undefined
}
