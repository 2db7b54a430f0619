import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../../lib/async/pause.ts'
import { readPairingLink, toBase64 } from '../../lib/crypto/index.ts'
import * as v from '../../lib/schema.ts'
import { call } from '../kit/person.ts'
import { type Computer, furnishComputer } from './computer.ts'
import { abortTurn, cutOff, decide, startAcp, type Talk, talk, turnEnds } from './conversation.ts'
import { happy, happyVersion } from './happy.ts'
import type { PhoneMachine, PhoneSession } from './memory.ts'
import { notifyByCli, notifyOfTurn, startPushServices } from './notifications.ts'
import { Phone } from './phone.ts'
import { startSingle } from './site.ts'
import type { Stage } from './steps.ts'

/** Pairs a computer, works in sessions from the phone, cuts the server off in between, and puts everything away. */
export async function playScenario(stage: Stage, startSite = startSingle): Promise<void> {
  const { steps } = stage
  const services = await startPushServices(stage)
  const args = ['--idle-after-ms', '1000', '--expo-url', services.url, '--push-allow', '127.0.0.1/32']
  const site = await steps.step('afield serve listens', () => startSite(stage, args), 120_000)
  const phone = await steps.step('the app signs up and connects', async () => {
    const phone = await Phone.signIn(site.phoneUrl)
    await phone.connect()
    return phone
  })
  stage.teardown(() => phone.disconnect())
  const computer = furnishComputer(stage, site.url, { EXPO_BASE_URL: services.url, ...site.env })

  await pair(stage, computer, phone)
  await notifyByCli(stage, computer, phone, services)
  const machine = await startDaemon(stage, computer, phone)
  await askMachine(stage, machine, phone)
  const session = await startAcp(stage, computer, phone)
  await talk(stage, session, phone)
  await decide(stage, session, phone)
  await cutOff(stage, session, phone, site)
  await abortTurn(stage, computer, phone)
  const spawned = await spawnByDaemon(stage, machine, phone)
  await notifyOfTurn(stage, computer, spawned, phone, services)
  await endSessions(stage, session, spawned, machine, phone)
  await stopDaemon(stage, machine, phone)
  await readAgain(stage, phone)
}

async function pair({ steps, form }: Stage, computer: Computer, phone: Phone): Promise<void> {
  const login = happy(computer, ['auth', 'login'], { terminal: true })
  const link = await steps.step('happy auth login shows a link', async () => {
    await login.prints(/How would you like to authenticate/)
    login.child.stdin?.write('1')
    const [link] = await login.prints(/happy:\/\/terminal\?[\w-]{43}/)
    return link
  })
  await steps.step(`the app finds the request waiting and answers it in form ${form}`, () => phone.approve(link, form))
  await steps.step('happy auth login is paired', async () => {
    await login.prints(/Authentication successful/)
    assert.equal(await login.ended, 0)
    const { secret, encryption } = JSON.parse(readFileSync(join(computer.home, '.happy', 'access.key'), 'utf8'))
    assert.equal(form === 1 ? secret : encryption.publicKey, phone.handedOver(form))
  })
  await steps.step('nobody gets the token a second time', async () => {
    const publicKey = toBase64(readPairingLink(link)?.publicKey ?? new Uint8Array(0))
    const { status, body } = await call({ url: computer.server }, 'POST', '/v1/auth/request', { body: { publicKey, supportsV2: true } })
    assert.notEqual(status, 200)
    assert.equal(body.token, undefined)
  })
}

async function startDaemon({ steps }: Stage, computer: Computer, phone: Phone): Promise<PhoneMachine> {
  happy(computer, ['daemon', 'start-sync'])
  const machine = await steps.step('happy daemon start-sync registers the machine', () => phone.until(() => phone.machines[0]))
  assert.equal(machine.metadata.happyCliVersion, happyVersion)
  await steps.step('the app sees it online and running', () =>
    phone.until(() => machine.active && machine.daemonState?.status === 'running')
  )
  await steps.step('the daemon counts itself as connected, its methods registered', async () => {
    const { httpPort } = JSON.parse(readFileSync(join(computer.home, '.happy', 'daemon.state.json'), 'utf8'))
    const isConnected = async () => {
      const { body } = await call({ url: `http://127.0.0.1:${httpPort}` }, 'POST', '/status', { body: {} })
      return body.connected === true
    }
    while (!(await isConnected())) await pause(50)
  })
  return machine
}

async function askMachine({ steps, folder }: Stage, machine: PhoneMachine, phone: Phone): Promise<void> {
  await steps.step('the app runs a command on the machine', async () => {
    const answer = await phone.call(machine, 'bash', { command: 'echo "from $PWD"', cwd: folder })
    assert.deepEqual(answer, { success: true, stdout: `from ${folder}\n`, stderr: '', exitCode: 0 })
  })
  await steps.step('the app lists a directory of the machine', async () => {
    const answer = await phone.call(machine, 'listDirectory', { path: folder })
    const { entries } = v.parse(v.object({ success: v.literal(true), entries: v.array(v.object({ name: v.string() })) }), answer)
    assert.deepEqual(
      entries.map(({ name }) => name),
      ['agents', 'data', 'home']
    )
  })
}

async function spawnByDaemon({ steps, folder }: Stage, machine: PhoneMachine, phone: Phone): Promise<PhoneSession> {
  const directory = join(folder, 'new project')
  const params = { type: 'spawn-in-directory', directory, agent: 'gemini' }
  await steps.step('the daemon asks before it makes a directory', async () => {
    const answer = await phone.call(machine, 'spawn-happy-session', { ...params, approvedNewDirectoryCreation: false })
    assert.deepEqual(answer, { type: 'requestToApproveDirectoryCreation', directory })
  })
  const session = await steps.step('the daemon spawns a session', async () => {
    const answer = await phone.call(machine, 'spawn-happy-session', { ...params, approvedNewDirectoryCreation: true })
    assert.partialDeepStrictEqual(answer, { type: 'success' })
    const { sessionId } = v.parse(v.object({ sessionId: v.string() }), answer)
    return phone.until(() => phone.sessions.find(({ id }) => id === sessionId))
  })
  await steps.step('the spawned session answers a prompt', async () => {
    assert.equal(session.metadata.path, directory)
    assert.equal(session.metadata.startedBy, 'daemon')
    await phone.send(session.id, 'SCRIPT: text Spawned and well.')
    await turnEnds(phone, session, 'message Spawned and well.')
  })
  return session
}

async function endSessions({ steps }: Stage, session: Talk, spawned: PhoneSession, machine: PhoneMachine, phone: Phone): Promise<void> {
  await steps.step('killSession is answered; the session is archived and over', async () => {
    const answer = await phone.call(session, 'killSession', {})
    assert.deepEqual(answer, { success: true, message: 'Killing happy-cli process' })
    await phone.until(() => session.metadata.lifecycleState === 'archived' && !session.active)
  })
  await steps.step('stop-session ends the spawned process, and its session is seen as over', async () => {
    assert.deepEqual(await phone.call(machine, 'stop-session', { sessionId: spawned.id }), { message: 'Session stopped' })
    await phone.until(() => !spawned.active)
  })
}

async function stopDaemon({ steps }: Stage, machine: PhoneMachine, phone: Phone): Promise<void> {
  await steps.step('stop-daemon is acknowledged; the machine is shutting down and then offline', async () => {
    const answer = await phone.call(machine, 'stop-daemon', {})
    assert.deepEqual(answer, { message: 'Daemon stop request acknowledged, starting shutdown sequence...' })
    await phone.until(() => !machine.active && machine.daemonState?.status === 'shutting-down')
  })
}

async function readAgain({ steps }: Stage, phone: Phone): Promise<void> {
  await steps.step('another phone of the account reads the same, without a gap', async () => {
    const other = await phone.another()
    await other.load()
    for (const session of phone.sessions) {
      const said = await other.read(session.id)
      assert.deepEqual(said, session.said)
      assert.deepEqual(
        said.map(({ seq }) => seq),
        said.map((_, index) => index + 1)
      )
    }
    const inShort = ({ sessions }: Phone) => sessions.map(({ id, metadata, agentState }) => ({ id, metadata, agentState }))
    assert.deepEqual(inShort(other).toSorted(byId), inShort(phone).toSorted(byId))
    assert.deepEqual(
      other.sessions.filter(({ active }) => active),
      []
    )
    assert.deepEqual(
      other.machines.map(({ daemonState, active }) => [daemonState?.status, active]),
      [['shutting-down', false]]
    )
  })
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1
}
