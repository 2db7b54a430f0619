import type { Clock } from '../../async/clock.ts'
import type { SessionRecord } from '../../protocol/wire/records.ts'
import { Refused } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'
import { createRetrier } from '../link/retry.ts'
import type { LiveSocket } from '../link/socket.ts'
import { ChangeReader } from './change-reader.ts'

interface SessionWatchOptions {
  rest: Pick<Rest, 'call'>
  socket: Pick<LiveSocket, 'state' | 'onState'>
  session: string
  /**
   * The current session. `isBack`: the server was restored to an older state, so that its numbers and
   * versions may be lower than before.
   */
  onRow(row: SessionRecord, about: { isBack: boolean }): void
  onRemoved(): void
  /** Final: the token is invalid. */
  onRefused?: ((refusal: Refused) => void) | undefined
  clock?: Clock | undefined
  random?: (() => number) | undefined
}

/** Reports at each connect what changed in a session's own row while offline. Live updates are for others. */
export function watchSession(options: SessionWatchOptions): { close(): void } {
  const { rest, socket, session, onRow, onRemoved, onRefused, clock, random } = options
  const end = new AbortController()
  const retrier = createRetrier({ signal: end.signal, clock, random })
  const reader = new ChangeReader(rest, retrier)
  let isReading = false
  let mustRead = false
  let isBack = false

  const tell = (rows: readonly SessionRecord[]) => {
    const row = rows.find(({ id }) => id === session)
    if (row) onRow(row, { isBack })
    isBack = false
  }
  const sink = {
    take({ removed, sessions }: { removed: readonly { id: string }[]; sessions: readonly SessionRecord[] }) {
      if (removed.some(({ id }) => id === session)) onRemoved()
      tell(sessions)
    },
    startOver() {
      isBack = true
    },
    async readAll() {
      tell((await retrier.attempt(signal => rest.call('listSessions', {}, { signal }))).sessions)
    }
  }

  async function catchUp(): Promise<void> {
    isReading = true
    while (mustRead) {
      mustRead = false
      await reader.read(sink)
    }
    isReading = false
  }

  const unlisten = socket.onState(connect)
  function connect() {
    if (socket.state.type !== 'live') return
    mustRead = true
    reader.reconnected()
    retrier.restart()
    if (!isReading) {
      catchUp().catch(error => {
        if (end.signal.aborted) return
        if (!(error instanceof Refused)) throw error
        onRefused?.(error)
      })
    }
  }
  connect()

  return {
    close() {
      unlisten()
      end.abort(new Error('the session is no longer watched'))
    }
  }
}
