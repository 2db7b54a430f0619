import { SessionRow } from '../parts/row.tsx'
import { now } from '../state/clock.ts'
import { isStale } from '../state/connection.ts'
import type { SessionView } from '../state/store.ts'

/** Sessions as they stand on Home, in a card. */
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
