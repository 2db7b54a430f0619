import type { SessionHandlers } from '../../../client/calls/calls.ts'
import { readStatus } from '../../../client/calls/git-output.ts'
import type { GitStatus } from '../../../protocol/sealed/calls/git.ts'
import type { Confinement } from '../../home/confinement.ts'
import { countAll } from './git-counts.ts'
import { diffOf } from './git-diff.ts'
import { logOf, showCommit } from './git-log.ts'
import { folderOf, placeOf } from './git-place.ts'
import { type Finished, type Git, gitIn, NoGit, refusalOf } from './git-program.ts'

interface GitOptions {
  confinement(): Confinement
  /** A commit runs the hooks of the repository. */
  mayUseShell(): boolean
  env: Readonly<Record<string, string | undefined>>
}

type GitHandlers = Pick<SessionHandlers, 'gitStatus' | 'gitDiff' | 'gitStage' | 'gitUnstage' | 'gitCommit' | 'gitLog' | 'gitShow'>

/** Git in the folder of a session, for the phone: changes, staging, commits and history. */
export function gitMethods({ confinement, mayUseShell, env }: GitOptions): GitHandlers {
  const inFolder = () => {
    const folder = folderOf(confinement())
    return { folder, git: gitIn(folder, env) }
  }
  const places = (paths: readonly string[]) => {
    const allowed = confinement()
    return paths.map(path => placeOf(allowed, path))
  }
  return {
    async gitStatus() {
      const { folder, git } = inFolder()
      return statusOf(git, folder)
    },
    async gitDiff({ path, from, commit, load }) {
      const { folder, git } = inFolder()
      await needRepository(git)
      const [place = path, earlier = place] = places(from == null ? [path] : [path, from])
      return diffOf(git, { folder, path: place, from: earlier, commit: commit ?? undefined, load: load === true })
    },
    async gitStage({ paths }) {
      const { git } = inFolder()
      await needRepository(git)
      await done(git.read(['add', '--all', ...fromInput], { input: inputOf(places(paths)) }))
      return { staged: paths.length }
    },
    async gitUnstage({ paths }) {
      const { git } = inFolder()
      await needRepository(git)
      await done(git.read(['reset', '--quiet', ...fromInput], { input: inputOf(places(paths)) }))
      return { unstaged: paths.length }
    },
    async gitCommit({ message, paths }) {
      if (!mayUseShell())
        throw new Error('A commit runs the hooks of the repository, and the policy of this computer does not let phones run commands.')
      const { git } = inFolder()
      const { prefix } = await needRepository(git)
      return commit(git, prefix, message, paths == null ? undefined : places(paths))
    },
    async gitLog({ limit, skip }) {
      const { git } = inFolder()
      await needRepository(git)
      return logOf(git, limit, skip ?? 0)
    },
    async gitShow({ commit }) {
      const { git } = inFolder()
      const { prefix } = await needRepository(git)
      return showCommit(git, prefix, commit)
    }
  }
}

const mostFiles = 2000
const mostStatusBytes = 4 * 1024 * 1024
/** Hooks may run all tests first. */
const commitWithinMs = 10 * 60_000

const fromInput = ['--pathspec-from-file=-', '--pathspec-file-nul']

async function statusOf(git: Git, folder: string): Promise<GitStatus> {
  const where = await repositoryOf(git).catch(error => {
    if (error instanceof NoGit) return 'no-git' as const
    throw error
  })
  if (where === 'no-git' || where === undefined) return { isRepository: false, why: where ?? 'no-repository' }
  const args = [
    'status',
    '--porcelain=v2',
    '-z',
    '--branch',
    '--untracked-files=all',
    '--find-renames',
    '--ignore-submodules=dirty',
    '--',
    '.'
  ]
  const finished = await git.read(args, { mostBytes: mostStatusBytes })
  if (finished.exitCode !== 0 && finished.stdout.length === 0) throw refusalOf(finished)
  const { files, ...status } = readStatus(finished.stdout.toString())
  const below = files.flatMap(file => withinFolder(file, where.prefix)).slice(0, mostFiles)
  const counted = await countAll(git, { folder, prefix: where.prefix, hasCommit: status.head !== null, files: below })
  const isCut = finished.isCut || files.length > mostFiles
  return { isRepository: true, ...status, files: counted, ...(isCut && { isCut }) }
}

/** Git reports paths from the root of the repository, the phone uses paths below the session's folder. */
function withinFolder<File extends { path: string; from?: string | undefined }>(file: File, prefix: string): File[] {
  if (!file.path.startsWith(prefix)) return []
  const path = file.path.slice(prefix.length)
  return [file.from === undefined ? { ...file, path } : { ...file, path, from: file.from.slice(prefix.length) }]
}

/** Undefined if the folder is in no working tree. `prefix` is the path from its root to the folder, and ends with `/` or is empty. */
async function repositoryOf(git: Git): Promise<{ prefix: string } | undefined> {
  const finished = await git.read(['rev-parse', '--is-inside-work-tree', '--show-prefix'])
  if (finished.exitCode !== 0) {
    if (/not a git repository|must be run in a work tree/.test(finished.stderr)) return undefined
    throw refusalOf(finished)
  }
  const output = finished.stdout.toString()
  const end = output.indexOf('\n')
  return output.slice(0, end) === 'true' ? { prefix: output.slice(end + 1).replace(/\n$/, '') } : undefined
}

async function needRepository(git: Git): Promise<{ prefix: string }> {
  const found = await repositoryOf(git)
  if (!found) throw new Error('The folder of this session is not in a Git repository.')
  return found
}

async function commit(git: Git, prefix: string, message: string, paths: readonly string[] | undefined) {
  const nobody = await identityMissing(git)
  if (nobody) return refused('no-identity', 'Git on this computer has no author configured. Set user.name and user.email there first.')
  if (paths) await done(git.read(['add', '--all', ...fromInput], { input: inputOf(paths) }))
  const staged = await stagedPaths(git)
  if (staged.length === 0 && !(await isMerging(git))) return refused('nothing-staged', 'Nothing is staged, so there is nothing to commit.')
  if (!paths && staged.some(path => !path.startsWith(prefix)))
    throw new Error('Files outside the folder of this session are staged too. Commit or unstage them on the computer first.')
  // Hooks get the person's environment, so the paths are made literal one by one.
  const only = paths ? ['--only', ...fromInput] : []
  const input = paths ? inputOf(paths.map(path => `:(literal)${path}`)) : undefined
  const finished = await git.act(['commit', '--cleanup=whitespace', `--message=${message}`, ...only], { input, withinMs: commitWithinMs })
  if (finished.exitCode !== 0) return refused('failed', lastLines(finished))
  const head = await git.read(['rev-parse', 'HEAD'])
  return { type: 'committed' as const, id: head.stdout.toString().trim() }
}

function refused(why: 'no-identity' | 'nothing-staged' | 'failed', says: string) {
  return { type: 'refused' as const, why, says }
}

async function identityMissing(git: Git): Promise<boolean> {
  const idents = await Promise.all([git.read(['var', 'GIT_AUTHOR_IDENT']), git.read(['var', 'GIT_COMMITTER_IDENT'])])
  return idents.some(({ exitCode }) => exitCode !== 0)
}

async function stagedPaths(git: Git): Promise<string[]> {
  const args = ['diff', '--cached', '--name-only', '-z', '--no-relative', '--no-ext-diff', '--ignore-submodules=none']
  const { stdout } = await done(git.read(args))
  return stdout.toString().split('\0').slice(0, -1)
}

async function isMerging(git: Git): Promise<boolean> {
  return (await git.read(['rev-parse', '--quiet', '--verify', 'MERGE_HEAD'])).exitCode === 0
}

function lastLines({ stdout, stderr, isCut }: Finished): string {
  if (isCut) return 'The commit took too long and was stopped.'
  return `${stdout}\n${stderr}`.trim().split('\n').slice(-20).join('\n').slice(-4000)
}

function inputOf(paths: readonly string[]): string {
  return paths.map(path => `${path}\0`).join('')
}

async function done(running: Promise<Finished>): Promise<Finished> {
  const finished = await running
  if (finished.exitCode !== 0) throw refusalOf(finished)
  return finished
}
