import type { lookAtLink as realLookAtLink } from '../../../../web/join/pairing.ts'
import { shown } from './app-story.ts'

// Stands in for the server's knowledge of a pairing link. What is behind the key `waiting` is never known.
export const lookAtLink: typeof realLookAtLink = async (_, href) =>
  href.endsWith('#key=waiting') ? new Promise(() => {}) : (shown().pairing ?? { type: 'gone' })
