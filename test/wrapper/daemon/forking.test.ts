import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import t from 'tap'
import { startServer } from '../../kit/server.ts'
import { said } from '../kit/claude.ts'
import { daemonOf } from '../kit/daemon.ts'
import { texts, turnsEnded } from '../kit/demo.ts'

const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)
const how = { skip: process.platform === 'win32' && 'the fake is a script', timeout: 90_000 }

t.test('a session of Codex is forked by Codex itself, and goes on beside the first; one that cannot be forked says why', how, async t => {
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
  const { phone, allowed, machine } = await daemonOf(t, await startServer(t, { data: join(own, 'data') }), env)
  await machine.call('spawn-happy-session', { directory: allowed, agent: 'codex', prompt: 'plant apples' })
  const session = await phone.session()
  await session.until(session => turnsEnded(session) === 1)

  await t.rejects(machine.call('fork-session', { sessionId: session.id, at: 'u0' }), /Codex can be forked as a whole only/)
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
})

t.test('the fork of a session that an ACP agent made shows its past on the phone, once', how, async t => {
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
