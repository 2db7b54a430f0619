import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { makeWorktree, worktreeMethods } from '../../../../lib/wrapper/daemon/computer/worktrees.ts'
import { createSessionFolder } from '../../../../lib/wrapper/home/session-folder.ts'

const author = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }
const env = { ...process.env, ...author }
const git = (folder: string, ...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', env }).trim()

function place(t: Test) {
  const folder = realpathSync(t.testdir({ orchard: { src: { 'a.txt': 'one\n' } } }))
  const orchard = join(folder, 'orchard')
  const home = join(folder, 'home')
  mkdirSync(home)
  git(orchard, 'init', '-q', '-b', 'main')
  git(orchard, 'add', '.')
  git(orchard, 'commit', '-q', '-m', 'one')
  const make = (about: string, base?: string, from = orchard) => makeWorktree(from, { home, base, about, env })
  return { orchard, home, make, methods: worktreeMethods({ home, env }) }
}

t.test('a copy is where only its owner looks, named after the work, and each has another name', async t => {
  const { orchard, home, make } = place(t)
  const first = await make('Tidy the, build scripts and more')
  t.equal(statSync(join(home, 'worktrees', 'orchard')).mode & 0o077, 0, 'others cannot read it')
  t.same(first.worktree, {
    path: join(home, 'worktrees', 'orchard', 'tidy-the-build-scripts'),
    branch: 'afield/tidy-the-build-scripts',
    repository: orchard,
    base: git(orchard, 'rev-parse', 'HEAD')
  })
  t.equal(first.directory, first.worktree.path)
  t.equal(basename((await make('tidy the build scripts!')).worktree.path), 'tidy-the-build-scripts-2')
  git(orchard, 'branch', 'afield/tidy-the-build-scripts-3')
  t.equal((await make('tidy the build scripts')).worktree.branch, 'afield/tidy-the-build-scripts-4', 'nor that of a branch')
  t.equal(basename((await make('…')).worktree.path), 'work')
  t.equal(basename((await make('a'.repeat(60))).worktree.path), 'a'.repeat(40))
})

t.test('a copy starts in the same folder, or at the top if its commit has no such folder', async t => {
  const { orchard, make } = place(t)
  t.equal((await make('same', undefined, join(orchard, 'src'))).directory.endsWith(join('same', 'src')), true)
  mkdirSync(join(orchard, 'new'))
  const { directory, worktree } = await make('other', undefined, join(orchard, 'new'))
  t.equal(directory, worktree.path)
})

t.test('a copy starts from the branch that was asked for, and says when there is none', async t => {
  const { orchard, make } = place(t)
  const before = git(orchard, 'rev-parse', 'HEAD')
  git(orchard, 'branch', 'older')
  git(orchard, 'commit', '-q', '--allow-empty', '-m', 'two')
  t.equal((await make('old', 'older')).worktree.base, before)
  await t.rejects(make('none', 'newer'), { message: 'This repository has no newer to start from.' })
  const empty = mkdtempSync(join(tmpdir(), 'afield-empty-'))
  t.teardown(() => rmSync(empty, { recursive: true }))
  await t.rejects(make('none', undefined, empty), { message: /^This folder is not in a Git repository/ })
  git(empty, 'init', '-q')
  await t.rejects(make('empty', undefined, empty), { message: 'This repository has no commit to start from yet.' })
})

t.test('a copy is listed with what it would lose, and removed with it only if that is wanted', async t => {
  const { orchard, make, methods } = place(t)
  const { worktree } = await make('count')
  const { path } = worktree
  t.same(await methods.worktrees(), { worktrees: [{ ...worktree, dirty: 0, ahead: 0, isInUse: false }] })
  writeFileSync(join(path, 'src', 'a.txt'), 'two\n')
  writeFileSync(join(path, 'b.txt'), 'new\n')
  await t.rejects(methods['remove-worktree']({ path }), { message: '2 files there have uncommitted changes.' })
  git(path, 'commit', '-q', '-m', 'two', 'src/a.txt')
  t.match(await methods.worktrees(), { worktrees: [{ dirty: 1, ahead: 1, base: git(orchard, 'rev-parse', 'HEAD') }] })
  t.same(await methods['remove-worktree']({ path, force: true }), {
    message: 'The copy is gone; the branch afield/count keeps its commit.',
    branch: 'kept'
  })
  t.equal(existsSync(path), false)
  t.same(await methods.worktrees(), { worktrees: [] })
})

t.test('a copy in which a session works is listed with it, and stays', async t => {
  const { home, make, methods } = place(t)
  const { worktree } = await make('busy')
  const metadata = { path: worktree.path, host: 'studio' }
  const folder = createSessionFolder(home, { tag: 'one', id: 's1', server: 's', key: null, cursor: 0, turn: null, metadata })
  t.match(await methods.worktrees(), { worktrees: [{ isInUse: true, session: 's1' }] })
  await t.rejects(methods['remove-worktree']({ path: worktree.path, force: true }), { message: 'A session works there now. End it first.' })
  folder.retire()
  t.match(await methods.worktrees(), { worktrees: [{ isInUse: false, session: 's1' }] })
})

t.test('a copy that began anew is counted from its first commit', async t => {
  const { make, methods } = place(t)
  const { path } = (await make('anew')).worktree
  git(path, 'checkout', '-q', '--orphan', 'fresh')
  git(path, 'commit', '-q', '-m', 'first')
  t.match(await methods.worktrees(), { worktrees: [{ ahead: 1, branch: 'fresh', base: git(path, 'rev-parse', 'HEAD') }] })
})

t.test('the branch of a copy without commits of its own goes with it', async t => {
  const { orchard, make, methods } = place(t)
  const { path } = (await make('nothing')).worktree
  t.same(await methods['remove-worktree']({ path }), { message: 'The copy and its branch are gone.', branch: 'removed' })
  t.equal(git(orchard, 'branch', '--list', 'afield/*'), '')
  await t.rejects(methods['remove-worktree']({ path }), { message: 'This is not a copy made by Afield.' })
})
