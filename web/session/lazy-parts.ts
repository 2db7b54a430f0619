import { onUse } from '../ui/behavior/on-use.ts'

// Parts of a session other than messages, loaded on demand.

export const docks = onUse(() => import('./decide/decisions.tsx'))

/** Shown beside a decision. */
export const beside = onUse(() => import('./decide/decision-context.tsx'))

export const modeSheet = onUse(() => import('./mode/sheet.tsx'))

/** The changes in the session's folder. */
export const folder = onUse(() => import('./work/side-changes.tsx'))

/** For a deleted session. */
export const deleted = onUse(() => import('./log/deleted.tsx'))
