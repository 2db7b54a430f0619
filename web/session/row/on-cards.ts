import { onUse } from '../../ui/behavior/on-use.ts'

/** To decide in a list, loaded once there is something that may be. */
export const onCards = onUse(() => import('./decide.tsx'))
