import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { allowedFolders, folderMethods } from '../../../../lib/wrapper/daemon/computer/folders.ts'
import { createSessionFolder } from '../../../../lib/wrapper/home/session-folder.ts'
import type { SessionNotes } from '../../../../lib/wrapper/home/session-notes.ts'
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

/** A computer whose owner allows one folder, `code`, in the home directory. */
function computer(t: Test) {
  const own = realpathSync(t.testdir({ person: { code: {}, other: {} }, home: {} }))
  const [person, home] = [join(own, 'person'), join(own, 'home')]
  const code = join(person, 'code')
  const { HOME } = process.env
  process.env['HOME'] = person
  t.teardown(() => Object.assign(process.env, { HOME }))
  const allow = (...folders: string[]) => writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders }), { mode: 0o600 })
  allow(code)
  const methods = folderMethods({ home, env: { ...process.env, PATH: '/usr/bin:/bin', HOME: person, GIT_CEILING_DIRECTORIES: own } })
  let tag = 0
  const session = (metadata: Pick<SessionNotes['metadata'], 'path' | 'worktree'>) =>
    createSessionFolder(home, { tag: `t${++tag}`, server: 's', key: null, metadata: { host: 'h', ...metadata }, cursor: 0, turn: null })
  const make = (...names: string[]) => {
    for (const name of names) mkdirSync(join(code, name), { recursive: true })
  }
  return { person, home, code, allow, methods, session, make, complete: (path: string) => methods['complete-path']({ path }) }
}

t.test('a path is completed to the folders that begin with it, in any case, and hidden ones only if asked for', async t => {
  const { code, make, complete } = computer(t)
  make('Alder', 'ash/Inner', '.ashes', 'birch')
  writeFileSync(join(code, 'asters'), '')
  const folders = (...names: string[]) => ({ folders: names.map(name => join(code, name)), hasMore: false })
  for (const [typed, ...names] of [
    ['a', 'Alder', 'ash'],
    ['AS', 'ash'],
    ['ash', 'ash'],
    ['ash/', 'ash/Inner'],
    ['ash/i', 'ash/Inner'],
    ['ash/x'],
    ['.', '.ashes'],
    ['.a', '.ashes'],
    ['', 'Alder', 'ash', 'birch'],
    ['none/x'],
    ['asters/']
  ] as const)
    t.strictSame(await complete(`${code}/${typed}`), folders(...names), typed)
})

t.test('a tilde stands for the home directory, and leads only to what is allowed there', async t => {
  const { person, code, make, complete, allow } = computer(t)
  make('ash')
  const only = (folder: string) => ({ folders: [folder], hasMore: false })
  for (const typed of ['~', '~/', '~/co']) t.strictSame(await complete(typed), only(code), typed)
  t.strictSame(await complete('~/code/a'), only(join(code, 'ash')))
  t.strictSame(await complete('~\\x'), { folders: [], hasMore: false })
  t.strictSame(await complete('~other'), { folders: [], hasMore: false })
  allow(person)
  for (const typed of ['~', '~/']) t.strictSame(await complete(typed), { folders: [code, join(person, 'other')], hasMore: false }, typed)
})

t.test('on the way to what is allowed only folders are offered that are there', async t => {
  const { person, code, complete, allow } = computer(t)
  symlinkSync(code, join(person, 'linked'))
  allow(join(person, 'linked'), join(person, 'gone'), join(person, 'other'))
  t.strictSame(await complete(`${person}/`), { folders: [code, join(person, 'other')], hasMore: false })
  t.strictSame(await complete(`${person}/o`.toUpperCase()), { folders: [join(person, 'other')], hasMore: false })
})

t.test('fifty folders are offered at most, with a word that there are more', async t => {
  const { make, complete, code } = computer(t)
  make(...Array.from({ length: 50 }, (_, at) => `a${at}`))
  t.match(await complete(`${code}/a`), { folders: { length: 50 }, hasMore: false })
  make('a50')
  t.match(await complete(`${code}/a`), { folders: { length: 50 }, hasMore: true })
})

t.test('the recent folders are those of the latest sessions, each once, and not those that are gone', async t => {
  const { person, home, code, make, session, methods } = computer(t)
  t.strictSame((await methods.choices({})).recentFolders, [])
  make('copied', 'twice')
  const copy = join(home, 'worktrees', 'copied', 'work')
  mkdirSync(copy, { recursive: true })
  for (const name of ['twice', 'twice', 'gone']) session({ path: join(code, name) })
  session({ path: copy, worktree: { path: copy, branch: 'b', repository: join(code, 'copied'), base: 'c' } })
  session({ path: join(person, 'other') })
  const { recentFolders, folders, home: told } = await methods.choices({})
  t.same(new Set(recentFolders), new Set([join(code, 'twice'), join(code, 'copied')]))
  t.equal(recentFolders.length, 2)
  t.strictSame(
    folders,
    recentFolders.map(path => ({ path }))
  )
  t.equal(told, person)
  for (let at = 0; at < 10; at++) {
    make(`c${at}`)
    session({ path: join(code, `c${at}`) })
  }
  t.equal((await methods.choices({})).recentFolders.length, 12)
  make('one-more')
  session({ path: join(code, 'one-more') })
  t.equal((await methods.choices({})).recentFolders.length, 12)
})

t.test('of the allowed folders those are named that are there, and copies made for sessions are allowed besides', async t => {
  const { person, home, code, allow, methods } = computer(t)
  allow(join(person, 'gone'), code)
  t.strictSame((await methods.choices({})).allowedFolders, [code])
  const copy = join(home, 'worktrees', 'one')
  t.equal(allowedFolders(home).check(copy), copy)
  t.strictSame((await methods.choices({ folder: copy })).folder, { path: copy })
  t.notOk('folder' in (await methods.choices({ folder: '' })))
  t.notOk('folder' in (await methods.choices({ folder: person })))
})

t.test('of a folder that is a repository its branch is told, if it is on one, and how many files have changes', async t => {
  const { code, make, methods } = computer(t)
  make('copse')
  const copse = join(code, 'copse')
  makeRepository(copse)
  const { folder, agents, missingAgents } = await methods.choices({ folder: copse })
  t.strictSame(folder, { path: copse, branch: 'main', dirty: 1 })
  t.equal(agents.at(-1)?.agent, 'demo')
  t.ok(missingAgents)
  git(copse, 'checkout', '-q', '--detach')
  t.strictSame((await methods.choices({ folder: copse })).folder, { path: copse, dirty: 1 })
})

t.test('a folder is made for a phone where that is allowed, and not where Git would run what is in it', async t => {
  const { person, code, methods } = computer(t)
  const make = (path: string) => methods['make-folder']({ path })
  t.strictSame(make('~/code/new/../newer'), { path: join(code, 'newer') })
  t.strictSame(make('relative'), { path: join(code, 'relative') })
  t.ok(existsSync(join(code, 'newer')) && existsSync(join(code, 'relative')))
  t.throws(() => make(join(code, '.git', 'hooks')), { message: 'Files that Git runs cannot be changed from a phone.' })
  t.throws(() => make(join(person, 'new')), { message: `The folder ${join(person, 'new')} is not allowed on this computer.` })
  t.notOk(existsSync(join(code, '.git')) || existsSync(join(person, 'new')))
})

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
