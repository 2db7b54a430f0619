import { onUse } from '../../ui/behavior/on-use.ts'

/** Requested as soon as a session is opened, and usually loaded when the first message is drawn. */
export const rich = onUse(() => import('./rich.ts'))
