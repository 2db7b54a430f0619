import { onUse } from '../../ui/behavior/on-use.ts'

/** Asked for as soon as a session is opened, and hardly ever missing when the first message is drawn. */
export const rich = onUse(() => import('./rich.ts'))
