import { CannotStart } from '../../exit.ts'
import { listOpenSessions } from '../home/session-folder.ts'
import { openInClaude } from './claude.ts'

/**
 * Two processes on one conversation would overwrite each other: throws CannotStart if another one already
 * has it.
 */
export function refuseOpen(home: string, conversation: string | undefined, env: Readonly<Record<string, string>>): void {
  if (conversation === undefined) return
  const session = listOpenSessions(home).find(
    ({ pid, notes }) => pid !== undefined && pid !== process.pid && notes.metadata.agentSessionId === conversation
  )
  if (session) throw new CannotStart(`This conversation is already open in a running session, process ${session.pid}.`)
  const pid = openInClaude(env).get(conversation)
  if (pid !== undefined)
    throw new CannotStart(`This conversation is open in Claude Code right now, as process ${pid}. Close it there first.`)
}
