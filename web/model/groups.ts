import { computed, type ReadonlySignal } from '@preact/signals'
import { now } from '../core/clock.ts'
import { quietDays } from '../core/preferences.ts'
import { isArchived } from './archive.ts'
import { home } from './home.ts'
import { type Groups, groupSessions, type OpenDecision } from './sessions.ts'

/** Sessions that need a person, are working, or are done. */
export const groups: ReadonlySignal<Groups> = computed(() => {
  const known = home.value
  const rule = { quietDays: quietDays.value, now: hour.value * hourMs }
  return groupSessions(known, session => isArchived(session, known, rule))
})

const hourMs = 3600_000
// Whether a session has been idle for days is not recomputed twice a minute.
const hour = computed(() => Math.floor(now.value / hourMs))

export const decisions: ReadonlySignal<readonly OpenDecision[]> = computed(() => groups.value.decisions)
