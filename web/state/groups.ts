import { computed, type ReadonlySignal } from '@preact/signals'
import { home } from './home.ts'
import { type Groups, groupSessions, type OpenDecision } from './sessions.ts'

/** What needs a person, what moves, what is done. */
export const groups: ReadonlySignal<Groups> = computed(() => groupSessions(home.value))

export const decisions: ReadonlySignal<readonly OpenDecision[]> = computed(() => groups.value.decisions)
