import type { KnownMessage } from '../transcript/message.ts'

/** A single damaged message must not lock a session. */
const closedInARow = 3

/**
 * True if new content of the session is encrypted with another key than this device has for it, for example after a program started over with the
 * name of an older session. Content sealed by this device cannot be read there either.
 */
export function isOtherwiseSealed(messages: readonly KnownMessage[]): boolean {
  let closed = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.closed === 'unreadable') closed++
    // Messages of people are sealed by their devices and say nothing about the session.
    else if (message?.body?.role !== 'user') return false
    if (closed === closedInARow) return true
  }
  return false
}
