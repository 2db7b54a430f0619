import { withDeadline } from '../../async/deadline.ts'
import { createRest, type Fetch } from '../../client/link/rest.ts'
import { isDeleted } from '../../client/outbox/removals.ts'
import { cryptoReady } from '../../crypto/ready.ts'
import { CannotStart } from '../../exit.ts'
import { deviceToken, type Home } from '../home/credentials.ts'
import { typed } from '../home/own-process.ts'
import { type KnownSession, reopen } from '../home/session-folder.ts'

/**
 * Throws CannotStart if an ended session has been deleted since, and removes its local files. If the server does not answer
 * soon, the session continues; the connection will find out.
 */
export async function refuseDeleted(home: Home, known: Pick<KnownSession, 'path' | 'notes'>, fetch: Fetch): Promise<void> {
  const { server, id } = known.notes
  const credentials = home.credentials(server)
  if (!credentials || id === undefined) return
  // Renewing the token needs the key.
  await cryptoReady()
  const rest = createRest({ server, token: deviceToken({ home, credentials, fetch }), fetch })
  if (!(await withDeadline(answersWithinMs, signal => isDeleted(rest, id, signal)).catch(() => false))) return
  reopen(known)?.remove()
  throw new CannotStart(`This session was deleted and cannot be resumed. ${howToGoOn(known)}`)
}

function howToGoOn({ notes: { program, metadata } }: Pick<KnownSession, 'notes'>): string {
  const isKept = program && keepers.has(program.kind) && !!metadata.agentSessionId
  return isKept
    ? `Continue its conversation in a new session with:\n  ${typed(`adopt ${metadata.agentSessionId}`)}`
    : 'Start a new session instead.'
}

const answersWithinMs = 3_000
/** The agents whose conversations can be adopted. */
const keepers: ReadonlySet<string> = new Set(['claude', 'codex', 'opencode'])
