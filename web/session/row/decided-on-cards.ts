import { signal } from '@preact/signals'

/** Requests allowed in a list, by id: the list shows the outcome. */
export const decidedOnCards = signal<ReadonlySet<string>>(new Set())
