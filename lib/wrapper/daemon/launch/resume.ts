import { withDeadline } from '../../../async/deadline.ts'
import { agentEnvironment } from '../../home/credentials.ts'
import { untilFound } from '../../home/folder-watch.ts'
import { type KnownSession, listSessions, sessionsIn } from '../../home/session-folder.ts'
import { type StartNotes, startSessionProcess } from './launch.ts'

export interface Resumer {
  /**
   * Resolves when the session runs, whoever resumed it: it never has two processes, even if the daemon, a
   * phone and someone at the terminal want it at once. Rejects with the reason for a person. `remember`
   * makes an unknown session known.
   */
  resume(id: string, how?: Pick<StartNotes, 'mode' | 'model' | 'effort'>, remember?: () => Promise<void>): Promise<void>
}

export function createResumer({ home, env }: { home: string; env: Readonly<Record<string, string | undefined>> }): Resumer {
  const under = new Map<string, Promise<void>>()

  async function resume(id: string, how: Pick<StartNotes, 'mode' | 'model' | 'effort'>, remember?: () => Promise<void>): Promise<void> {
    if (!isKnown(home, id)) await remember?.()
    const { notes, pid } = await settled(home, id)
    if (pid !== undefined) return
    if (!notes.program) throw new Error('This session was made by an earlier version and cannot be resumed.')
    try {
      await startSessionProcess({
        start: id,
        home,
        server: notes.server,
        directory: notes.metadata.path,
        command: ['resume', id],
        notes: how,
        title: notes.metadata.agentTitle ?? 'agent',
        env: agentEnvironment(env)
      })
    } catch (error) {
      // Someone at the terminal was faster.
      if (find(home, id).pid === undefined) throw error
    }
  }

  return {
    resume(id, how = {}, remember) {
      const running = under.get(id) ?? resume(id, how, remember).finally(() => under.delete(id))
      under.set(id, running)
      return running
    }
  }
}

/** One that is ending is awaited: it would not read another message. */
function settled(home: string, id: string): Promise<KnownSession> {
  const whenEnded = (watch: (folder: string) => void) => {
    watch(sessionsIn(home))
    const known = find(home, id)
    return known.pid === undefined || !known.notes.isEnding ? known : undefined
  }
  return withDeadline(endWithinMs, signal => untilFound(whenEnded, signal, { lookEveryMs }))
}

function isKnown(home: string, id: string): boolean {
  return listSessions(home).some(({ notes }) => notes.id === id)
}

function find(home: string, id: string): KnownSession {
  const known = listSessions(home).find(({ notes }) => notes.id === id)
  if (!known) throw new Error('This computer does not know the session.')
  return known
}

const endWithinMs = 15_000
// One killed meanwhile leaves its folder as it is.
const lookEveryMs = 250
