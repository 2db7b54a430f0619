import { onUse } from '../parts/on-use.ts'

// What a session has beside its messages, each loaded for who needs it.

export const docks = onUse(() => import('./session-decide.tsx'))

/** What stands beside a decision. */
export const beside = onUse(() => import('./session-before.tsx'))

export const sheets = onUse(() => import('./session-sheets.tsx'))

export const limit = onUse(() => import('./session-limit.tsx'))

export const whileAway = onUse(() => import('./session-while-away.tsx'))

export const modeSheet = onUse(() => import('../parts/mode-sheet.tsx'))

/** The folder of the session: what changed in it. */
export const folder = onUse(() => import('./session-folder.ts'))

/** Of one that is no more. */
export const deleted = onUse(() => import('./session-deleted.tsx'))

/** Of one that is being resumed. */
export const resuming = onUse(() => import('./session-starting.tsx'))

/** Before the keyboard is taken from a terminal in which something runs. */
export const takingOver = onUse(() => import('./session-take-over.tsx'))
