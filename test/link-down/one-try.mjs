// The negative control of the link that goes down, loaded into the wrapper with --import: the first message of a request that
// failed is taken for delivered.
import { changeSource } from '../instances/change-source.mjs'

changeSource('lib/client/outbox/outbox.ts', text =>
  text.replace(
    '(session, drafts, signal)',
    '(session, drafts, signal).catch(error => { void this.#forget(drafts.slice(0, 1)); throw error })'
  )
)
