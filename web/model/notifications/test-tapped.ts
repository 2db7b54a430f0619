import { signal } from '@preact/signals'

/** When a notification that opens the notifications page was tapped, as for a test. Undefined: not since the app was opened. */
export const testTappedAt = signal<number | undefined>(undefined)
