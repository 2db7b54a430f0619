import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../../../kit/server.ts'
import { daemonOf } from '../../kit/daemon.ts'
import { turnsEnded } from '../../kit/demo.ts'

const author = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }
const git = (folder: string, ...args: string[]) =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8', env: { ...process.env, ...author } }).trim()

/** A repository with one commit, and a change that is not committed. */
function makeRepository(folder: string): void {
  mkdirSync(join(folder, 'src'), { recursive: true })
  git(folder, 'init', '-q', '-b', 'main')
  writeFileSync(join(folder, 'src', 'a.txt'), 'one\n')
  git(folder, 'add', '.')
  git(folder, 'commit', '-q', '-m', 'one')
  writeFileSync(join(folder, 'src', 'a.txt'), 'two\n')
}

t.test('a session works on its own copy, which is removed when nothing in it would be lost', async t => {
  const { phone, allowed, machine, home } = await daemonOf(t, await startServer(t))
  const orchard = join(allowed, 'orchard')
  makeRepository(orchard)
  const ask = {
    directory: join(orchard, 'src'),
    agent: 'demo',
    prompt: 'SCRIPT: tool write {"path":"b.txt","content":"new"}',
    permissionMode: 'acceptEdits'
  }
  await t.rejects(machine.call('spawn-happy-session', { ...ask, worktree: { base: '--help' } }), /has no --help/)
  await t.rejects(machine.call('spawn-happy-session', { ...ask, directory: allowed, worktree: {} }), /not in a Git repository/)

  await machine.call('spawn-happy-session', { ...ask, worktree: { about: 'Größe prüfen: überall!' } })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  const { worktree, path, gitBranch } = session.metadata
  t.match(worktree, { branch: 'afield/größe-prüfen-überall', repository: orchard, base: git(orchard, 'rev-parse', 'HEAD') })
  t.equal(gitBranch, worktree?.branch)
  t.equal(path, join(worktree?.path ?? '', 'src'), 'the same folder, in the copy')
  t.equal(readFileSync(join(path, 'a.txt'), 'utf8'), 'one\n', 'what is not committed stays where it is')
  t.equal(readFileSync(join(path, 'b.txt'), 'utf8'), 'new')
  t.notOk(existsSync(join(orchard, 'src', 'b.txt')))

  const tree = worktree?.path ?? ''
  t.match(await machine.call('worktrees', {}), { worktrees: [{ path: tree, dirty: 1, ahead: 0, isInUse: true, session: session.id }] })
  await t.rejects(machine.call('remove-worktree', { path: tree }), /A session works there now/)
  await session.call('killSession', {})
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  const [{ id } = { id: '' }] = Object(await machine.call('processes', {})).processes
  if (id !== '') await machine.call('end-process', { id }).catch(() => {})
  await t.rejects(machine.call('remove-worktree', { path: tree }), /One file there has uncommitted changes/)
  await t.rejects(machine.call('remove-worktree', { path: orchard, force: true }), /not a copy made by Afield/)

  git(tree, 'add', '.')
  git(tree, 'commit', '-q', '-m', 'two')
  t.match(await machine.call('remove-worktree', { path: tree }), { branch: 'kept' })
  t.notOk(existsSync(tree))
  t.equal(git(orchard, 'log', '-1', '--format=%s', 'afield/größe-prüfen-überall'), 'two', 'what was committed is kept')
  t.ok(existsSync(join(home, 'worktrees', 'orchard')))
})

t.test('a person chooses from current agents and folders, and completes a path only where sessions may start', async t => {
  const bin = t.testdir({ codex: '' })
  const claude = join(bin, 'claude')
  writeFileSync(claude, '#!/bin/sh\necho "2.9.1 (Claude Code)"\n')
  chmodSync(claude, 0o755)
  const env = {
    PATH: `${bin}:/usr/bin:/bin`,
    CLAUDE_CONFIG_DIR: join(bin, 'config'),
    ANTHROPIC_API_KEY: '',
    CLAUDE_CODE_OAUTH_TOKEN: '',
    ANTHROPIC_AUTH_TOKEN: ''
  }
  const { phone, allowed, machine } = await daemonOf(t, await startServer(t, { data: join(bin, 'data') }), env)
  const orchard = join(allowed, 'Orchard')
  makeRepository(orchard)
  mkdirSync(join(allowed, 'orangery'))
  mkdirSync(join(allowed, '.hidden'))
  await machine.call('spawn-happy-session', { directory: orchard, agent: 'demo' })
  await (await phone.session()).call('killSession', {})

  const choices = Object(await machine.call('choices', {}))
  t.match(choices.agents[0], { agent: 'claude', version: '2.9.1', signIn: 'claude /login' })
  if (process.platform === 'linux') t.equal(choices.agents[0].isSignedIn, false)
  t.match(
    choices.missingAgents.find(({ agent }: { agent: string }) => agent === 'codex'),
    { install: /npm install/ }
  )
  t.match(choices.agents.at(-1), { agent: 'demo' })
  t.strictSame(choices.folders, [{ path: orchard, branch: 'main', dirty: 1 }])
  t.strictSame(choices.allowedFolders, [allowed])
  t.notOk('folder' in choices, 'nobody asked for another')

  const copse = join(allowed, 'copse')
  makeRepository(copse)
  const folderTold = async (folder: string) => Object(await machine.call('choices', { folder })).folder
  t.strictSame(await folderTold(copse), { path: copse, branch: 'main', dirty: 1 }, 'one that no session was in')
  t.strictSame(await folderTold(join(allowed, 'orangery')), { path: join(allowed, 'orangery') }, 'no repository')
  t.equal(await folderTold(join(allowed, '..')), undefined, 'nothing is told of where no session may begin')
  t.equal(await folderTold(process.cwd()), undefined)

  t.match(await machine.call('complete-path', { path: join(allowed, 'or') }), { folders: [orchard, join(allowed, 'orangery')] })
  t.strictSame(await machine.call('complete-path', { path: `${orchard}/` }), { folders: [join(orchard, 'src')], hasMore: false })
  t.match(await machine.call('complete-path', { path: join(allowed, '.h') }), { folders: [join(allowed, '.hidden')] })
  t.strictSame(await machine.call('complete-path', { path: '/et' }), { folders: [], hasMore: false }, 'nothing beyond')
  t.match(await machine.call('complete-path', { path: allowed.slice(0, 6) }), { folders: [allowed] }, 'the way to what is allowed')
  t.match(await machine.call('make-folder', { path: join(allowed, 'new', 'one') }), { path: join(allowed, 'new', 'one') })
  t.ok(existsSync(join(allowed, 'new', 'one')))
  await t.rejects(machine.call('make-folder', { path: '/etc/afield' }), /is not allowed on this computer/)
})

t.test('a folder in which a start would be rejected is not among the recent ones', async t => {
  const { phone, allowed, machine, home } = await daemonOf(t, await startServer(t))
  const begin = async (directory: string) => {
    mkdirSync(directory, { recursive: true })
    await machine.call('spawn-happy-session', { directory, agent: 'demo' })
    await (await phone.session()).call('killSession', {})
  }
  const orchard = join(allowed, 'orchard')
  const demo = join(home, 'demo')
  const since = join(home, '..', 'since')
  const policy = (folders: string[]) => writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders }), { mode: 0o600 })
  policy([allowed, demo, since])
  for (const folder of [orchard, demo, since]) await begin(folder)
  t.same(new Set(Object(await machine.call('choices', {})).recentFolders), new Set([orchard, demo, since]))

  policy([join(home, '..')])
  await t.rejects(machine.call('spawn-happy-session', { directory: demo, agent: 'demo' }), /may not use Afield’s own folder/)
  t.same(new Set(Object(await machine.call('choices', {})).recentFolders), new Set([orchard, since]), 'not the own folder of Afield')
  policy([allowed])
  const { recentFolders, folders } = Object(await machine.call('choices', {}))
  t.strictSame(recentFolders, [orchard], 'not what is not allowed any more')
  t.match(folders, [{ path: orchard }])
})
