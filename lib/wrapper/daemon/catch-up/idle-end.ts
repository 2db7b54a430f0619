import { listOpenSessions } from '../../home/session-folder.ts'
import { readPolicy } from '../../session/methods/policy.ts'

const hourMs = 3_600_000

/**
 * Ends the sessions started by a phone that were idle for as long as the owner of this computer chose, so
 * that their agents use no memory; a message resumes them. A session that works or waits for an answer is
 * not idle. Returns their processes.
 */
export function endIdle(home: string, now: number): number[] {
  const { idleHours } = readPolicy(home)
  if (idleHours === undefined) return []
  const idle = listOpenSessions(home).flatMap(({ pid, at, notes: { turn, isEnding, isStarting, metadata } }) => {
    const isIdle = turn === null && !isEnding && !isStarting && metadata.startedBy === 'daemon' && now - at > idleHours * hourMs
    return pid !== undefined && pid !== process.pid && isIdle ? [pid] : []
  })
  for (const pid of idle) process.kill(pid, 'SIGTERM')
  return idle
}
