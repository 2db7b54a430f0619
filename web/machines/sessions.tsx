import { now } from '../core/clock.ts'
import { isStale } from '../core/connection.ts'
import type { SessionView } from '../model/store.ts'
import { SessionRow } from '../session/row/row.tsx'

/** Sessions in a card, as on Home. */
export function SessionCard({ sessions }: { sessions: readonly SessionView[] }) {
  return (
    <ul class="card tight inset">
      {sessions.map(session => (
        <li key={session.id}>
          <SessionRow session={session} isCurrent={false} isStale={isStale.value} at={now.value} />
        </li>
      ))}
    </ul>
  )
}
