import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { pause } from '../../../../lib/async/pause.ts'
import { startServer } from '../../../kit/server.ts'
import { daemonOf } from '../../kit/daemon.ts'
import { turnsEnded } from '../../kit/demo.ts'

const how = { timeout: 90_000, skip: process.platform === 'win32' && 'the fake is a script' }

async function sessionWithToken(t: Test, env: Record<string, string> = {}) {
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const codexHome = join(tmpdir(), `afield-codex-${crypto.randomUUID()}`)
  const own = { CODEX_BIN: resolve('test/wrapper/agents/codex/fake-codex.mjs'), CODEX_HOME: codexHome, PATH: path, ...env }
  const computer = await daemonOf(t, await startServer(t), own)
  const { allowed, machine, home } = computer
  const begun = machine.call('spawn-happy-session', { directory: allowed, agent: 'codex', token: 'a sign-in' })
  const given = () => {
    const homes = join(home, 'agents', 'codex')
    return existsSync(homes) ? readdirSync(homes).map(tag => join(homes, tag, 'auth.json')) : []
  }
  return { ...computer, codexHome, begun, given, kept: () => given().filter(file => existsSync(file)) }
}

t.test('a sign-in given by a phone is for its session only, survives a resume, and is removed with it [W6]', how, async t => {
  const { phone, machine, begun, given, kept, codexHome } = await sessionWithToken(t)
  await begun
  const session = await phone.session()
  const [file = ''] = given()
  t.equal(readFileSync(file, 'utf8'), 'a sign-in')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(statSync(dirname(file)).mode & 0o777, 0o700)
  await session.say('hello')
  await session.until(session => turnsEnded(session) === 1)
  const { hostPid = 0, agentSessionId } = session.metadata

  process.kill(hostPid, 'SIGKILL')
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  await session.say('and then')
  await session.until(session => turnsEnded(session) === 2)
  await session.until(({ metadata }) => metadata.hostPid !== hostPid && metadata.lifecycleState === 'running')
  t.equal(session.metadata.agentSessionId, agentSessionId, 'the same conversation')
  t.notOk(existsSync(codexHome), 'which is not in the home of this computer’s own')
  t.strictSame(kept(), [file])

  await machine.call('stop-session', { sessionId: session.id })
  await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
  while (kept().length > 0) await pause(20)
})

t.test('a sign-in for a session that did not start is removed', how, async t => {
  const { begun, kept } = await sessionWithToken(t, { FAKE_REFUSES: '1' })
  t.match(await begun.catch((error: unknown) => String(error)), /did not start|could not/)
  while (kept().length > 0) await pause(20)
})
