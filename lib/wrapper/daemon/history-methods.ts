import type { MachineHandlers } from '../../client/calls/machine-calls.ts'
import { claudeBeginning, findClaudeHistory, forkClaude, rewindPoints } from '../histories/claude.ts'
import { codexForking, folderOfThread, noSuchThread } from '../histories/codex-fork.ts'
import { openHistories } from '../histories/histories.ts'
import type { FiledHistory } from '../histories/history.ts'
import { agentEnvironment } from '../home/credentials.ts'
import { allowedFolders } from './computer/folders.ts'
import { forkSession, rewindPointsOf } from './launch/fork.ts'
import type { SpawnDeps } from './launch/spawn.ts'

/** The agents' own conversations on this computer, and new sessions made from them. */
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

  const codex = codexForking({ home, env: own })
  const allowedThread = (id: string): string => {
    if (!isAllowed(folderOfThread(own, id))) throw new Error(noSuchThread)
    return id
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
    'codex-fork-thread': async ({ codexThreadId }) => ({
      type: 'success',
      newCodexThreadId: await codex.fork(allowedThread(codexThreadId))
    }),
    'codex-list-rewind-points': async ({ codexThreadId }) => ({
      type: 'success',
      points: await codex.rewindPoints(allowedThread(codexThreadId))
    }),
    'codex-duplicate-thread': async ({ codexThreadId, cutAfterItemId }) => ({
      type: 'success',
      newCodexThreadId: await codex.fork(allowedThread(codexThreadId), cutAfterItemId)
    }),
    'rewind-points': async ({ sessionId }) => ({ points: await rewindPointsOf(deps, sessionId) }),
    'fork-session': async asked => ({ type: 'success', sessionId: await forkSession(deps, asked) })
  } satisfies Partial<MachineHandlers>
}
