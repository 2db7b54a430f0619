import type { lookAtLink as realLookAtLink } from '../../../../web/join/pairing.ts'
import { shown } from './app-story.ts'

// Stands in for the server's knowledge of a pairing link.
export const lookAtLink: typeof realLookAtLink = async () => shown().pairing ?? { type: 'gone' }
