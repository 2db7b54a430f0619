import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import t, { type Test } from 'tap'
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
