import { onUse } from '../ui/behavior/on-use.ts'

// What a session has beside its messages, each loaded for who needs it.

export const docks = onUse(() => import('./decide.tsx'))

/** What stands beside a decision. */
export const beside = onUse(() => import('./before.tsx'))

export const sheets = onUse(() => import('./sheets.tsx'))

export const limit = onUse(() => import('./limit.tsx'))

export const whileAway = onUse(() => import('./while-away.tsx'))

export const modeSheet = onUse(() => import('./mode/sheet.tsx'))

/** The folder of the session: what changed in it. */
export const folder = onUse(() => import('./folder.ts'))

/** Of one that is no more. */
export const deleted = onUse(() => import('./deleted.tsx'))

/** Of one that is being resumed. */
export const resuming = onUse(() => import('./starting/starting.tsx'))

/** Before the keyboard is taken from a terminal in which something runs. */
export const takingOver = onUse(() => import('./take-over.tsx'))
