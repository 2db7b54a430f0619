import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { MachineHandlers } from '../../../client/calls/machine-calls.ts'
import { type Confinement, confine } from '../../home/confinement.ts'
import { listSessions } from '../../home/session-folder.ts'
import { isFolder, listFolder, makeFolder } from '../../session/methods/folders.ts'
import { readPolicy } from '../../session/methods/policy.ts'
import { lookForAgents } from './agents.ts'
import { lookAtRepository } from './git.ts'
import { worktreesIn } from './worktrees.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Where sessions may start: what the policy allows, and the copies made for sessions. */
export function allowedFolders(home: string): Confinement {
  return confine([...readPolicy(home).folders, worktreesIn(home)], home)
}

/** The choices for starting a session. */
export function folderMethods({ home, env }: { home: string; env: Env }) {
  return {
    async choices({ folder }) {
      const confinement = allowedFolders(home)
      const recent = recentFolders(home, confinement)
      const asked = folder ? placeIn(confinement, folder) : undefined
      const [agents, folders, askedNow] = await Promise.all([
        lookForAgents(env),
        Promise.all(recent.map(path => described(path, env))),
        asked === undefined ? undefined : described(asked, env)
      ])
      const allowed = readPolicy(home).folders.filter(isFolder)
      return {
        ...agents,
        recentFolders: recent,
        folders,
        ...(askedNow && { folder: askedNow }),
        home: homedir(),
        allowedFolders: [...allowed]
      }
    },
    'make-folder'({ path }) {
      const folder = allowedFolders(home).checkChange(path)
      makeFolder(folder)
      return { path: folder }
    },
    'complete-path'({ path }) {
      const found = completions(path, allowedFolders(home))
      return { folders: found.slice(0, mostCompletions), hasMore: found.length > mostCompletions }
    }
  } satisfies Partial<MachineHandlers>
}

const mostRecent = 12
const mostCompletions = 50
const lookWithinMs = 1_500

/**
 * Copies made for sessions are not offered, nor are folders in which a start would be rejected, such as the
 * demo's.
 */
function recentFolders(home: string, confinement: Confinement): string[] {
  const folders = listSessions(home).map(({ notes: { metadata } }) => metadata.worktree?.repository ?? metadata.path)
  const canBegin = (folder: string) => isFolder(folder) && placeIn(confinement, folder) !== undefined
  return [...new Set(folders)].filter(canBegin).slice(0, mostRecent)
}

/** Undefined where no session may start. */
function placeIn(confinement: Confinement, folder: string): string | undefined {
  try {
    return confinement.check(folder)
  } catch {
    return undefined
  }
}

async function described(path: string, env: Env) {
  const repository = await lookAtRepository(path, env, lookWithinMs)
  return { path, ...(repository && { dirty: repository.dirty, ...(repository.branch !== undefined && { branch: repository.branch }) }) }
}

/** Folders whose path begins with this: below the named one, or on the way to allowed ones. */
function completions(path: string, confinement: Confinement): string[] {
  const typed = path === '~' ? `${homedir()}/` : path.replace(/^~(?=[\\/])/, homedir())
  const [above, start] = /[\\/]$/.test(typed) ? [typed, ''] : [dirname(typed), basename(typed)]
  try {
    const folder = confinement.check(above)
    const shown = listFolder(folder).filter(
      ({ name, type }) => type === 'directory' && begins(name, start) && name.startsWith('.') === start.startsWith('.')
    )
    return shown.map(({ name }) => join(folder, name))
  } catch {
    // Allowed folders are further down.
    return confinement.roots.filter(root => begins(root, typed) && isThere(root))
  }
}

function begins(name: string, start: string): boolean {
  return name.toLowerCase().startsWith(start.toLowerCase())
}

function isThere(path: string): boolean {
  try {
    return realpathSync(path) === path
  } catch {
    return false
  }
}
