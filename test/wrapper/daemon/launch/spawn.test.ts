import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { spawnSession } from '../../../../lib/wrapper/daemon/launch/spawn.ts'
import { makeRepository } from '../../kit/repository.ts'

// Of a session: what it was started with, and no more.
const echo = `
import { readFileSync } from 'node:fs'
const [name, , tag, ...words] = process.argv.slice(2)
const { CLAUDE_CODE_OAUTH_TOKEN, CODEX_HOME, OPENAI_API_KEY, SHELL_OF_DAEMON, AFIELD_SERVER } = process.env
const notes = JSON.parse(readFileSync(process.env.AFIELD_HOME + '/starting/' + tag + '.json', 'utf8'))
const env = { CLAUDE_CODE_OAUTH_TOKEN, CODEX_HOME, OPENAI_API_KEY, SHELL_OF_DAEMON, AFIELD_SERVER }
console.log(JSON.stringify({ tag, command: [name, ...words], folder: process.cwd(), notes, env }))
process.exit(1)
`

/** A computer whose sessions end with what they were started with. */
function computer(t: Test) {
  const { folder: code, env, git } = makeRepository(t)
  const own = dirname(code)
  const home = join(own, 'home')
  writeFileSync(join(own, 'program.mjs'), echo)
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [code] }), { mode: 0o600 })
  t.intercept(process, 'argv', { value: [process.execPath, join(own, 'program.mjs')] })
  t.intercept(process, 'execArgv', { value: [] })
  const deps = { home, server: 'https://home.example', env: { ...env, SHELL_OF_DAEMON: 'sh' } }
  const spawn = (params: Partial<Parameters<typeof spawnSession>[1]>) => spawnSession(deps, { directory: code, ...params })
  const started = (params: Parameters<typeof spawn>[0]) =>
    spawn(params).then(
      () => t.fail('it ended before it started'),
      (error: Error) => JSON.parse(error.message)
    )
  return { code, git, spawn, started }
}

t.test('a session for which no agent is named is one of Claude Code, in the folder that was asked for', async t => {
  const { code, spawn, started } = computer(t)
  for (const agent of [undefined, null, '']) {
    const { tag, ...session } = await started({ agent })
    t.match(tag, /^[\w-]+$/)
    t.strictSame(session, {
      command: ['claude'],
      folder: code,
      notes: { about: { gitBranch: 'main' } },
      env: { SHELL_OF_DAEMON: 'sh', AFIELD_SERVER: 'https://home.example' }
    })
  }
  t.match(await started({ agent: 'codex' }), { command: ['codex'] })
  await t.rejects(spawn({ agent: 'nonsense' }), { message: 'This computer has no agent called nonsense.' })
})

t.test('what a phone chose is handed to the session, with where it comes from', async t => {
  const { started } = computer(t)
  const chosen = {
    permissionMode: 'plan',
    modelMode: 'small',
    effortLevel: 'low',
    prompt: 'plant apples',
    parentSessionId: 's1',
    forkedFromMessageId: 'm1',
    isSideChat: false,
    environmentVariables: { OPENAI_API_KEY: 'k' }
  }
  t.match(await started(chosen), {
    notes: {
      mode: 'plan',
      model: 'small',
      effort: 'low',
      prompt: 'plant apples',
      about: { parentSessionId: 's1', forkedFromMessageId: 'm1', isSideChat: false }
    },
    env: { OPENAI_API_KEY: 'k' }
  })
})

t.test('what an app sends as null counts as not chosen', async t => {
  const { started } = computer(t)
  const { notes } = await started({
    approvedNewDirectoryCreation: null,
    permissionMode: null,
    modelMode: null,
    effortLevel: null,
    prompt: null,
    environmentVariables: null,
    token: null,
    resumeClaudeSessionId: null,
    parentSessionId: null,
    forkedFromMessageId: null,
    isSideChat: null,
    worktree: null,
    conversation: null,
    start: null
  })
  t.strictSame(notes, { about: { gitBranch: 'main' } })
})

t.test('a conversation is continued by the agent it belongs to, and only a plain name is one', async t => {
  const { spawn, started } = computer(t)
  const resumed = async (params: Parameters<typeof started>[0]) => (await started(params)).notes.resume
  t.equal(await resumed({ conversation: 'c.1:a-b' }), 'c.1:a-b')
  t.equal(await resumed({ resumeClaudeSessionId: 'c2', resumeCodexThreadId: 'c3' }), 'c2')
  t.equal(await resumed({ agent: 'codex', resumeClaudeSessionId: 'c2', resumeCodexThreadId: 'c3' }), 'c3')
  t.equal(await resumed({ agent: 'gemini', resumeClaudeSessionId: 'c2', resumeCodexThreadId: 'c3' }), undefined)
  t.equal(await resumed({ conversation: 'c1', resumeClaudeSessionId: 'c2' }), 'c1')
  for (const conversation of ['../c1', 'c1 --flag', '-c\n'])
    await t.rejects(spawn({ conversation }), { message: 'This is not a conversation ID.' })
})

t.test('a conversation that Claude Code has open is not started on', async t => {
  const { code, spawn } = computer(t)
  const sessions = join(dirname(code), 'home', '.claude', 'sessions')
  mkdirSync(sessions, { recursive: true })
  writeFileSync(join(sessions, `${process.pid}.json`), JSON.stringify({ pid: process.pid, sessionId: 'c1' }))
  const directory = join(code, 'new')
  await t.rejects(spawn({ conversation: 'c1', directory }), { message: /^This conversation is open in Claude Code right now/ })
  t.notOk(existsSync(directory))
})

t.test('a folder that does not exist is created, unless the person is to be asked first', async t => {
  const { code, spawn, started } = computer(t)
  const directory = join(code, 'new', 'deeper')
  t.strictSame(await spawn({ directory, approvedNewDirectoryCreation: false }), { type: 'requestToApproveDirectoryCreation', directory })
  t.notOk(existsSync(directory))
  t.match(await started({ directory }), { folder: directory })
  mkdirSync(join(code, 'there'))
  t.match(await started({ directory: join(code, 'there'), approvedNewDirectoryCreation: false }), { folder: join(code, 'there') })
  writeFileSync(join(code, 'file'), '')
  for (const approvedNewDirectoryCreation of [true, false])
    await t.rejects(spawn({ directory: join(code, 'file'), approvedNewDirectoryCreation }), { message: /not a folder/ })
})

t.test('a sign-in is for Claude Code and Codex alone, and signs in this session', async t => {
  const { spawn, started } = computer(t)
  t.match(await started({ token: 'a sign-in' }), { env: { CLAUDE_CODE_OAUTH_TOKEN: 'a sign-in' } })
  const { tag, env } = await started({ agent: 'codex', token: 'a sign-in' })
  t.equal(basename(env.CODEX_HOME), tag, 'it is removed with the session of this tag')
  t.equal(readFileSync(join(env.CODEX_HOME, 'auth.json'), 'utf8'), 'a sign-in')
  t.notOk(env.CLAUDE_CODE_OAUTH_TOKEN)
  await t.rejects(spawn({ agent: 'gemini', token: 'a sign-in' }), { message: 'Only Claude Code and Codex accept a token.' })
  t.match(await started({ agent: 'gemini', token: '' }), { command: ['run', '--', 'gemini', '--acp'] })
})

t.test('a session on a copy of the repository works on a branch named after what it is for, or after its prompt', async t => {
  const { code, git, started } = computer(t)
  git('commit', '--quiet', '--allow-empty', '-m', 'first')
  git('branch', 'release')
  git('commit', '--quiet', '--allow-empty', '-m', 'second')
  for (const [params, name, at] of [
    [{ worktree: { about: 'plant pears', base: 'release' }, prompt: 'plant apples', parentSessionId: 's1' }, /pears/, 'first'],
    [{ worktree: {}, prompt: 'plant apples', parentSessionId: 's1' }, /apples/, 'second']
  ] as const) {
    const { folder, notes } = await started(params)
    t.match(notes.about, { parentSessionId: 's1', worktree: { repository: code, branch: name }, gitBranch: name })
    t.notOk(folder.startsWith(code))
    t.equal(git('-C', folder, 'log', '-1', '--format=%s').trim(), at)
  }
})
