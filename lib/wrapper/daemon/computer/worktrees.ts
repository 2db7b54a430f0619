import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { MachineHandlers } from '../../../client/calls/machine-calls.ts'
import type { Worktree } from '../../../protocol/sealed/worktree.ts'
import { makePrivateFolder } from '../../home/private-files.ts'
import { listSessions } from '../../home/session-folder.ts'
import { git } from './git.ts'

type Env = Readonly<Record<string, string | undefined>>

/** In the wrapper's own folder, away from people's files. */
export function worktreesIn(home: string): string {
  const folder = join(home, 'worktrees')
  makePrivateFolder(folder)
  return realpathSync(folder)
}

interface MadeWorktree {
  worktree: Worktree
  /** The same folder of the repository, in the copy. */
  directory: string
}

/** Makes a copy of the repository of a folder, on its own branch. Uncommitted changes stay where they are. */
export async function makeWorktree(
  folder: string,
  { home, base, about, env }: { home: string; base: string | undefined; about: string; env: Env }
): Promise<MadeWorktree> {
  const top = await git(folder, ['rev-parse', '--show-toplevel'], env).catch(() => {
    throw new Error('This folder is not in a Git repository, so no copy can be made to work on.')
  })
  // A name that is not an option, and a commit.
  const commit = await git(folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base ?? 'HEAD'}^{commit}`], env).catch(
    () => {
      throw new Error(
        base === undefined ? 'This repository has no commit to start from yet.' : `This repository has no ${base} to start from.`
      )
    }
  )
  const below = join(worktreesIn(home), basename(top))
  makePrivateFolder(below)
  const words = await freeName(top, below, about, env)
  const path = join(below, words)
  const branch = `afield/${words}`
  await git(top, ['worktree', 'add', '--quiet', '-b', branch, path, commit], env, addWithinMs)
  const directory = join(path, relative(top, realpathSync(folder)))
  return { worktree: { path, branch, repository: top, base: commit }, directory: existsSync(directory) ? directory : path }
}

// A large repository takes a while, and a caller waits for 30 s.
const addWithinMs = 20_000

async function freeName(top: string, below: string, about: string, env: Env): Promise<string> {
  const taken = new Set((await git(top, ['for-each-ref', '--format=%(refname:short)', 'refs/heads/afield'], env)).split('\n'))
  const name = nameFrom(about)
  for (let count = 1; ; count++) {
    const words = count === 1 ? name : `${name}-${count}`
    if (!taken.has(`afield/${words}`) && !existsSync(join(below, words))) return words
  }
}

function nameFrom(about: string): string {
  const words = about.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return [...words.slice(0, 4).join('-')].slice(0, 40).join('') || 'work'
}

export function worktreeMethods({ home, env }: { home: string; env: Env }) {
  const find = async (path: string) => {
    const known = (await readWorktrees(home, env)).find(tree => tree.path === path)
    if (!known) throw new Error('This is not a copy made by Afield.')
    return known
  }
  return {
    worktrees: async () => ({ worktrees: await readWorktrees(home, env) }),
    async 'remove-worktree'({ path, force = false }) {
      const { isInUse, dirty, ahead, repository, branch } = await find(path)
      if (isInUse) throw new Error('A session works there now. End it first.')
      if (dirty > 0 && !force)
        throw new Error(dirty === 1 ? 'One file there has uncommitted changes.' : `${dirty} files there have uncommitted changes.`)
      await git(repository, ['worktree', 'remove', ...(force ? ['--force'] : []), path], env, addWithinMs)
      rmSync(path, { recursive: true, force: true })
      if (ahead > 0)
        return {
          message: `The copy is gone; the branch ${branch} keeps its ${ahead === 1 ? 'commit' : `${ahead} commits`}.`,
          branch: 'kept'
        }
      await git(repository, ['branch', '-D', '--', branch], env)
      return { message: 'The copy and its branch are gone.', branch: 'removed' }
    }
  } satisfies Partial<MachineHandlers>
}

async function readWorktrees(home: string, env: Env) {
  const root = worktreesIn(home)
  const paths = readdirSync(root).flatMap(repository => readdirSync(join(root, repository)).map(name => join(root, repository, name)))
  const sessions = listSessions(home)
  const looked = await Promise.all(paths.map(path => lookAt(path, env).catch(() => undefined)))
  return looked.flatMap(tree => {
    if (!tree) return []
    const own = sessions.filter(({ notes }) => notes.metadata.worktree?.path === tree.path || notes.metadata.path === tree.path)
    const session = own[0]?.notes.id
    return { ...tree, isInUse: own.some(({ pid }) => pid !== undefined), ...(session !== undefined && { session }) }
  })
}

/** `ahead`: commits that no other branch has. */
async function lookAt(path: string, env: Env) {
  const [common, branch, status] = await Promise.all([
    git(path, ['rev-parse', '--path-format=absolute', '--git-common-dir'], env),
    git(path, ['rev-parse', '--abbrev-ref', 'HEAD'], env),
    git(path, ['status', '--porcelain'], env)
  ])
  const own = await git(path, ['rev-list', 'HEAD', '--not', `--exclude=${branch}`, '--branches', '--remotes'], env)
  const commits = own === '' ? [] : own.split('\n')
  const oldest = commits.at(-1)
  const base = await git(path, ['rev-parse', oldest === undefined ? 'HEAD' : `${oldest}^`], env).catch(() => oldest ?? '')
  const dirty = status === '' ? 0 : status.split('\n').length
  return { path, branch, repository: dirname(common), base, dirty, ahead: commits.length }
}
