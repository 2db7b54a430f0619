import type { MachineHandlers } from '../../client/calls/machine-calls.ts'
import { ruleMethods } from '../approvals/rules.ts'
import { fileMethods } from '../session/methods/files.ts'
import { allowedFolders, folderMethods } from './computer/folders.ts'
import { worktreeMethods } from './computer/worktrees.ts'
import { historyMethods } from './history-methods.ts'
import type { Resumer } from './launch/resume.ts'
import { spawnSession } from './launch/spawn.ts'
import { processMethods } from './processes.ts'
import { upkeepMethods } from './upkeep.ts'

interface MachineMethodsDeps {
  home: string
  server: string
  env: Readonly<Record<string, string | undefined>>
  resumer: Resumer
  /** Makes an unknown session known, from an app's data. */
  remember(id: string, reminder: unknown): Promise<void>
  /** Ends the daemon; sessions continue. */
  stop(): void
  /** The same, and a new process replaces it. */
  restart(): void
}

/** What a phone may ask of this computer outside any session. */
export function machineMethods(deps: MachineMethodsDeps): Partial<MachineHandlers> {
  const { home } = deps
  // Outside sessions a phone looks for a folder; it reads no files.
  const files = fileMethods(() => allowedFolders(home))
  return {
    ...ruleMethods(home),
    ...processMethods(home),
    ...folderMethods(deps),
    ...worktreeMethods(deps),
    ...historyMethods(deps),
    ...upkeepMethods(deps),
    'spawn-happy-session': params => spawnSession(deps, params),
    'resume-happy-session': async ({ sessionId, permissionMode, model, fallback }) => {
      const how = { mode: permissionMode ?? undefined, model: model ?? undefined }
      await deps.resumer.resume(sessionId, how, fallback == null ? undefined : () => deps.remember(sessionId, fallback))
      return { type: 'success', sessionId }
    },
    'stop-daemon': (_, _by, answered) => {
      // The answer has to be sent before the connection is closed.
      void answered?.then(deps.stop)
      return { message: 'Daemon stop request acknowledged, starting shutdown sequence...' }
    },
    listDirectory: files.listDirectory,
    getDirectoryTree: files.getDirectoryTree
  }
}
