import type { MachineHandlers } from '../../client/machine-calls.ts'
import { agentEnvironment } from '../credentials.ts'
import { findClaudeHistory, forkClaude, rewindPoints } from '../histories/claude-fork.ts'
import { claudeBeginning } from '../histories/claude-histories.ts'
import { openHistories } from '../histories/histories.ts'
import type { FiledHistory } from '../histories/history.ts'
import { allowedFolders } from './folders.ts'
import { conversationOf, forkSession, notesOf } from './forking.ts'
import type { SpawnDeps } from './spawning.ts'

/** What agents keep by themselves on this computer, and new conversations made of it. */
export function historyMethods(deps: SpawnDeps) {
  const { home, env } = deps
  const own = agentEnvironment(env)
  const isAllowed = (folder: string) => {
    try {
      allowedFolders(home).check(folder)
      return true
    } catch {
      return false
    }
  }
  const histories = openHistories({ home, env, isAllowed })

  const findAllowed = (id: string): FiledHistory => {
    const history = findClaudeHistory(own, id)
    const folder = claudeBeginning(history.file)?.folder
    if (folder === undefined || !isAllowed(folder)) throw new Error('Claude Code has no such conversation on this computer.')
    return history
  }

  return {
    'agent-histories': asked => histories.list(asked),
    'search-histories': async asked => {
      const { hits, isComplete } = await histories.search(asked)
      return { hits: hits.map(({ text: _, ...hit }) => hit), isComplete }
    },
    'claude-fork-session': ({ claudeSessionId }) => ({ type: 'success', newClaudeSessionId: forkClaude(findAllowed(claudeSessionId)) }),
    'claude-list-rewind-points': ({ claudeSessionId }) => ({ type: 'success', points: rewindPoints(findAllowed(claudeSessionId)) }),
    'claude-duplicate-session': ({ claudeSessionId, cutAfterUuid }) => ({
      type: 'success',
      newClaudeSessionId: forkClaude(findAllowed(claudeSessionId), cutAfterUuid)
    }),
    'rewind-points': ({ sessionId }) => ({ points: rewindPoints(findClaudeHistory(own, claudeOf(home, sessionId))) }),
    'fork-session': async asked => ({ type: 'success', sessionId: await forkSession(deps, asked) })
  } satisfies Partial<MachineHandlers>
}

function claudeOf(home: string, id: string): string {
  const notes = notesOf(home, id)
  if (notes.program?.kind !== 'claude') throw new Error('Only sessions of Claude Code can be forked at one of their messages.')
  return conversationOf(notes)
}
