import { listOpenSessions } from '../../home/session-folder.ts'
import { readPolicy } from '../../session/methods/policy.ts'

const hourMs = 3_600_000

/**
 * Ends the sessions that a phone began and that were left alone for as long as the owner of this computer says, so that their agents
 * take no memory; a message brings them back. Nothing that works or waits for an answer is idle. Returns their processes.
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
