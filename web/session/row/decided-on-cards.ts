import { signal } from '@preact/signals'

/** What was allowed in a list, by its id: the list says how it ended. */
export const decidedOnCards = signal<ReadonlySet<string>>(new Set())
