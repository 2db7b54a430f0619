import { type ReadonlySignal, signal } from '@preact/signals'
import { isOn } from './preferences.ts'

/** The network type of this device. Some browsers report it and its changes; in others it is unknown. */
interface Carrier extends EventTarget {
  readonly type?: string
}

/** Why a photo waits: for another network, or, if the network type is unknown, for the person's confirmation. */
export type WaitsFor = 'wifi' | 'word'

const largeBytes = 1_000_000

/** What the upload of a photo has to wait for. Only in low-data mode, and only for a large one. */
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

function toCarrier(value: unknown): Carrier | undefined {
  return value instanceof EventTarget ? value : undefined
}
