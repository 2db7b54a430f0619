import type { ServerLink } from './account/server-link.ts'
import { home, onMarked, updateHome } from './home.ts'
import { followReadMarks } from './read-marks.ts'

/** Syncs read marks between this device and the others, until closed. */
export function shareReadMarks({ rest, socket, vault, feed }: Pick<ServerLink, 'rest' | 'socket' | 'vault' | 'feed'>): { close(): void } {
  const followed = followReadMarks({
    rest,
    socket,
    cipher: vault.settings,
    onMarks(marks) {
      for (const [id, seq] of marks) updateHome({ type: 'seen', id, seq })
    },
    // Until the server's list is loaded, any session may exist.
    isKnown: session => feed.state.type !== 'live' || home.peek().sessions.has(session)
  })
  const hidden = () => document.visibilityState === 'hidden' && followed.flush()
  document.addEventListener('visibilitychange', hidden)
  onMarked(followed.note)
  return {
    close() {
      document.removeEventListener('visibilitychange', hidden)
      onMarked(undefined)
      followed.close()
    }
  }
}
