import { onUse } from '../../ui/behavior/on-use.ts'

/** Deciding in a list, loaded once there is a request that allows it. */
export const onCards = onUse(() => import('./decide.tsx'))
