import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { forkSession, rewindPointsOf } from '../../../../lib/wrapper/daemon/launch/fork.ts'
import { createSessionFolder } from '../../../../lib/wrapper/home/session-folder.ts'
import type { SessionNotes } from '../../../../lib/wrapper/home/session-notes.ts'
import { startServer } from '../../../kit/server.ts'
import { said } from '../../kit/claude.ts'
import { daemonOf } from '../../kit/daemon.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'

const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)
const how = { skip: process.platform === 'win32' && 'the fake is a script', timeout: 90_000 }

/** A daemon with a scripted Codex, and a Gemini that cannot fork. */
async function daemonWithCodex(t: Test) {
  const own = t.testdir({
    codex: {},
    data: {},
    bin: { gemini: `#!/bin/sh\nexec node ${resolve('test/wrapper/agents/odd-agent.mjs')} --no-fork\n` }
  })
  chmodSync(join(own, 'bin', 'gemini'), 0o755)
  const codexHome = join(own, 'codex')
  const env = {
    CODEX_BIN: resolve('test/wrapper/agents/codex/fake-codex.mjs'),
    CODEX_HOME: codexHome,
    PATH: [join(own, 'bin'), path].join(delimiter)
  }
  return { ...(await daemonOf(t, await startServer(t, { data: join(own, 'data') }), env)), codexHome }
}

/** A computer with one session, whose new sessions end with what they were started with. */
function computer(t: Test) {
  const own = t.testdir({ home: {}, code: {}, claude: { projects: { code: {} } } })
  const [home, code] = [join(own, 'home'), join(own, 'code')]
  const echo = [
    "import { readFileSync } from 'node:fs'",
    'const [name, , tag] = process.argv.slice(2)',
    "const notes = JSON.parse(readFileSync(process.env.AFIELD_HOME + '/starting/' + tag + '.json', 'utf8'))",
    'console.log(JSON.stringify({ name, folder: process.cwd(), notes }))',
    'process.exit(1)'
  ]
  writeFileSync(join(own, 'program.mjs'), echo.join('\n'))
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [code] }), { mode: 0o600 })
  t.intercept(process, 'argv', { value: [process.execPath, join(own, 'program.mjs')] })
  t.intercept(process, 'execArgv', { value: [] })
  const history = join(own, 'claude', 'projects', 'code')
  const deps = { home, server: 's', env: { CLAUDE_CONFIG_DIR: join(own, 'claude'), PATH: '', HOME: own, GIT_CEILING_DIRECTORIES: own } }
  return {
    code,
    /** With these messages of its person. */
    say(id: string, ...texts: string[]) {
      const rows = texts.map(text => ({
        type: 'user',
        uuid: `u-${text}`,
        sessionId: id,
        cwd: code,
        timestamp: '2026-01-02T03:04:05.000Z',
        message: { role: 'user', content: text }
      }))
      writeFileSync(join(history, `${id}.jsonl`), `${rows.map(row => JSON.stringify(row)).join('\n')}\n`)
    },
    copied: (id: string) => readFileSync(join(history, `${id}.jsonl`), 'utf8').match(/u-\w+/g),
    session(program: SessionNotes['program'], agentSessionId?: string) {
      rmSync(join(home, 'ended'), { recursive: true, force: true })
      createSessionFolder(home, {
        tag: 'one',
        id: 's1',
        server: 's',
        program,
        key: null,
        metadata: { path: code, host: 'h', agentSessionId },
        cursor: 0,
        turn: null
      }).retire()
    },
    fork: (more: { at?: string; prompt?: string | null } = {}) => forkSession(deps, { sessionId: 's1', ...more }),
    points: () => rewindPointsOf(deps, 's1')
  }
}

const claudeId = '11111111-2222-4333-8444-555555555555'

t.test('a session of Claude Code is forked whole or at a message, and the new one goes on with the copy', how, async t => {
  const { code, say, copied, session, fork, points } = computer(t)
  session({ kind: 'claude' }, claudeId)
  say(claudeId, 'apples', 'pears', 'plums')
  t.strictSame(
    (await points()).map(({ uuid, text }) => [uuid, text]),
    ['apples', 'pears', 'plums'].map(text => [`u-${text}`, text])
  )
  const started = async (more: Parameters<typeof fork>[0]) => {
    const { message } = await fork(more).then(
      () => t.fail('it ended before it started') as never,
      (error: Error) => error
    )
    return JSON.parse(message)
  }
  const whole = await started({ prompt: null })
  t.not(whole.notes.resume, claudeId)
  t.strictSame(copied(whole.notes.resume), ['u-apples', 'u-pears', 'u-plums'])
  t.strictSame(whole, { name: 'claude', folder: code, notes: { resume: whole.notes.resume, about: { parentSessionId: 's1' } } })
  const part = await started({ at: 'u-pears', prompt: 'and nuts' })
  t.strictSame(copied(part.notes.resume), ['u-apples', 'u-pears'])
  t.strictSame(part.notes, {
    prompt: 'and nuts',
    resume: part.notes.resume,
    about: { parentSessionId: 's1', forkedFromMessageId: 'u-pears' }
  })
})

t.test('a session that cannot be forked says why', how, async t => {
  const { session, fork, points } = computer(t)
  const both = async (message: string) => {
    await t.rejects(fork(), { message })
    await t.rejects(points(), { message })
  }
  await both('This computer does not know the session.')
  session({ kind: 'claude' })
  await both('This session has no messages yet.')
  session({ kind: 'codex' })
  await both('This session has no messages yet.')
  session({ kind: 'claude' }, claudeId)
  await both('Claude Code has no such conversation on this computer.')
  const only = { message: 'Only sessions of Claude Code and Codex can be forked at one of their messages.' }
  const acp = (command: string) => ({ kind: 'acp' as const, command, args: [] })
  for (const [program, why] of [
    [undefined, 'This session was started by an earlier version and cannot be forked.'],
    [acp('/bin/custom'), 'Sessions of custom can only be forked at the terminal.'],
    // Codex through this protocol is another program than the one that a phone starts.
    [acp('codex'), 'Sessions of codex can only be forked at the terminal.']
  ] as const) {
    session(program, 'c1')
    await t.rejects(fork(), { message: why })
    await t.rejects(points(), only)
  }
  session(acp('/bin/gemini'), 'c1')
  await t.rejects(fork({ at: 'm1' }), { message: 'Sessions of Gemini can only be forked as a whole.' })
  session(acp('/bin/gemini'))
  await t.rejects(fork(), { message: 'This session has no messages yet.' })
})

t.test('a Codex session is forked by Codex itself, and continues next to the first; one that cannot be forked says why', how, async t => {
  const { phone, allowed, machine, codexHome } = await daemonWithCodex(t)
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'codex', prompt: 'plant apples' })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)

  await machine.call('fork-session', { sessionId: session.id, prompt: 'and pears' })
  const fork = await phone.session([session.id])
  await fork.until(fork => texts(fork).includes('you said: and pears'))
  t.equal(fork.metadata.parentSessionId, session.id)
  t.notOk(texts(session).includes('you said: and pears'))
  const kept = readdirSync(codexHome).flatMap(name =>
    name === `${fork.metadata.agentSessionId}.json` ? readFileSync(join(codexHome, name), 'utf8') : []
  )
  t.match(kept, [/plant apples[\s\S]*and pears/], 'it knows what was said before')

  await machine.call('spawn-happy-session', { directory: allowed, agent: 'gemini' })
  const gemini = await phone.session([session.id, fork.id])
  await t.rejects(machine.call('fork-session', { sessionId: gemini.id }), /gemini has no way to fork a session/i)
  await t.rejects(machine.call('rewind-points', { sessionId: gemini.id }), /Only sessions of Claude Code and Codex/)
})

t.test('a Codex thread is forked by existing apps, whole or up to a message, and a session continues with it', how, async t => {
  const { phone, home, allowed, machine } = await daemonWithCodex(t)
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'codex', prompt: 'plant apples' })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  await session.say('and pears')
  await session.until(session => turnsEnded(session) === 2)
  const thread = { directory: allowed, codexThreadId: session.metadata.agentSessionId ?? '' }

  const { type, points } = Object(await machine.call('codex-list-rewind-points', thread))
  t.equal(type, 'success')
  t.match(points, [{ text: 'plant apples' }, { text: 'and pears' }])
  t.ok(
    points.every(({ timestamp }: { timestamp: number }) => Math.abs(Date.now() - timestamp) < 60_000),
    'in milliseconds'
  )
  const [first] = points
  const { newCodexThreadId: whole } = Object(await machine.call('codex-fork-thread', thread))
  const { newCodexThreadId: half } = Object(await machine.call('codex-duplicate-thread', { ...thread, cutAfterItemId: first.itemId }))
  const saidOf = async (codexThreadId: string) =>
    Object(await machine.call('codex-list-rewind-points', { ...thread, codexThreadId })).points.map(({ text }: { text: string }) => text)
  t.strictSame(await saidOf(whole), ['plant apples', 'and pears'])
  t.strictSame(await saidOf(half), ['plant apples'])
  await t.rejects(machine.call('codex-duplicate-thread', { ...thread, cutAfterItemId: 'nobody' }), /no longer in the conversation/)

  await machine.call('spawn-happy-session', { directory: allowed, agent: 'codex', resumeCodexThreadId: half })
  const next = await phone.session([session.id])
  await next.until(next => turnsEnded(next) === 1)
  t.strictSame(texts(next), ['you said: plant apples'], 'its past is told')
  await next.say('and roses')
  await next.until(next => turnsEnded(next) === 2)
  t.strictSame(said(next), ['plant apples', 'and roses'])
  t.equal(next.metadata['codexThreadId'], half)

  const ours = Object(await machine.call('rewind-points', { sessionId: session.id })).points
  t.strictSame(
    ours.map(({ text }: { text: string }) => text),
    ['plant apples', 'and pears']
  )
  await machine.call('fork-session', { sessionId: session.id, at: ours[0].uuid })
  const fork = await phone.session([session.id, next.id])
  await fork.until(fork => turnsEnded(fork) === 1)
  t.strictSame(said(fork), ['plant apples'])

  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [join(allowed, 'elsewhere')] }), { mode: 0o600 })
  await t.rejects(machine.call('codex-fork-thread', thread), /no such conversation/, 'what was said in other folders is not told')
  await t.rejects(machine.call('codex-list-rewind-points', thread), /no such conversation/)
  await t.rejects(machine.call('codex-duplicate-thread', { ...thread, cutAfterItemId: first.itemId }), /no such conversation/)
})

t.test('the fork of an ACP session shows its past on the phone, once', how, async t => {
  const { phone, allowed, machine } = await daemonOf(t, await startServer(t))
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'demo', prompt: 'SCRIPT: text Planted.' })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)
  await machine.call('fork-session', { sessionId: session.id })
  const fork = await phone.session([session.id])
  await fork.until(fork => turnsEnded(fork) === 1)
  t.strictSame(said(fork), ['SCRIPT: text Planted.'])
  t.strictSame(texts(fork), ['Planted.'])
  await fork.say('SCRIPT: text Watered.')
  await fork.until(fork => turnsEnded(fork) === 2)
  t.strictSame(texts(fork), ['Planted.', 'Watered.'])
  t.strictSame(texts(session), ['Planted.'])
})
