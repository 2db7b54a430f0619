import type { KnownMessage } from '../transcript/message.ts'

/** One that was spoiled on its way must not shut a session. */
const closedInARow = 3

/**
 * True when what the session says now is sealed with another key than this device has for it, as after a program began anew under the
 * name of an older session. What this device sealed then cannot be read there either.
 */
export function isOtherwiseSealed(messages: readonly KnownMessage[]): boolean {
  let closed = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.closed === 'unreadable') closed++
    // What persons write is sealed by their devices and says nothing of the session.
    else if (message?.body?.role !== 'user') return false
    if (closed === closedInARow) return true
  }
  return false
}
