import { signal } from '@preact/signals'

/** When somebody tapped a notification that leads to the page of notifications, as a test does. Undefined: not since the app was opened. */
export const testTappedAt = signal<number | undefined>(undefined)
