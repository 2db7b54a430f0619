import type { lookAtLink as realLookAtLink } from '../../../../web/join/pairing.ts'
import { shown } from './shown.ts'

// Stands in for what the server knows of a link.
export const lookAtLink: typeof realLookAtLink = async () => shown().pairing ?? { type: 'gone' }
