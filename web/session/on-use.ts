import { onUse } from '../ui/behavior/on-use.ts'

// What a session has beside its messages, each loaded for who needs it.

export const docks = onUse(() => import('./decide/decisions.tsx'))

/** What stands beside a decision. */
export const beside = onUse(() => import('./decide/before.tsx'))

export const modeSheet = onUse(() => import('./mode/sheet.tsx'))

/** The folder of the session: what changed in it. */
export const folder = onUse(() => import('./work/side.tsx'))

/** Of one that is no more. */
export const deleted = onUse(() => import('./log/deleted.tsx'))
