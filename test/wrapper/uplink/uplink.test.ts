import { once } from 'node:events'
import t, { type Test } from 'tap'
import { newEnvelope, newSessionMessage, newUserText } from '../../../lib/client/sealed/messages.ts'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { fetch } from '../../../lib/wrapper/uplink/network.ts'
import { openUplink } from '../../../lib/wrapper/uplink/uplink.ts'
import { next, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'
import { turnsEnded } from '../kit/demo.ts'
import { computerWithSession } from '../kit/left-behind.ts'
import { startPhone } from '../kit/phone.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

/** The uplink of a session in this process, with what it says, and the account's connection. */
async function uplinkHere(t: Test) {
  const { server, phone, home: path, folder } = await computerWithSession(t)
  const home = openHome({ AFIELD_HOME: path })
  const credentials = home.credentials(server.url)
  if (!credentials) throw new Error('the computer is not linked')
  const bell = new EventTarget()
  const heard: string[] = []
  const say = (what: string) => {
    heard.push(what)
    bell.dispatchEvent(new Event('news'))
  }
  const uplink = await openUplink({
    home,
    credentials,
    folder,
    fetch,
    handlers: { abort: ({ reason }) => say(`stop: ${reason}`), watch: ({ viewer }) => say(`watched by ${viewer}`) },
    onMessage: (message, { seq }) => say(message.ok ? `${seq} ${Object(message.body.content).text}` : `${seq} unreadable`),
    onOwn: ({ seq }) => say(`${seq} own`),
    onForgedMessage: ({ seq }) => say(`${seq} forged`),
    onMetadata: ({ lifecycleState }) => say(`metadata ${lifecycleState}`),
    onChange: () => say('change')
  })
  t.teardown(() => uplink.close())
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await once(bell, 'news')
  }
  const person = await signUp(t, server, phone.secret)
  return {
    uplink,
    phone,
    until,
    person,
    app: await person.connect(),
    said: () => heard.filter(each => each !== 'change' && !each.startsWith('metadata')),
    metadata: () => heard.filter(each => each.startsWith('metadata'))
  }
}

t.test('what people write is told once and in order, what its agent writes only by its number, and what was forged as such', async t => {
  const { uplink, phone, until, said, app } = await uplinkHere(t)
  await until(() => uplink.link.type === 'live')
  await uplink.put(newSessionMessage(newEnvelope({ t: 'text', text: 'of the agent' }, { role: 'agent' })), 'own')
  await until(() => said().length === 1)
  const session = await phone.session()
  t.equal(uplink.session, session.id)
  const receipt = (least: 'deliveredSeq' | 'readSeq', seq: number) =>
    next(app, 'update', ({ body }) => body.t === 'session-receipts' && body[least] >= seq)
  const delivered = receipt('deliveredSeq', 2)
  await session.say('first')
  const { body } = await delivered
  t.same([body.sid, body.deliveredSeq, body.readSeq], [session.id, 2, 0], 'of its own nobody needs to hear')
  await session.append(session.sealedElsewhere('from elsewhere'))
  await session.say('second')
  await until(() => said().length === 4)
  t.same(said(), ['1 own', '2 first', '3 forged', '4 second'])
  const read = receipt('readSeq', 2)
  uplink.tellRead(2)
  const { body: both } = await read
  t.same([both.deliveredSeq, both.readSeq], [4, 2])
  await uplink.caughtUp()
  t.equal(uplink.waiting, 0)
})

t.test('of several receipts while one is sent only the latest follows', async t => {
  const { uplink, phone, until, said, app } = await uplinkHere(t)
  const session = await phone.session()
  for (const text of ['one', 'two', 'three', 'four']) await session.say(text)
  await until(() => said().length === 4)
  const told: number[] = []
  app.on('update', ({ body }) => body.t === 'session-receipts' && told.push(body.readSeq))
  const last = next(app, 'update', ({ body }) => body.t === 'session-receipts' && body.readSeq === 4)
  for (const seq of [1, 2, 4, 3]) uplink.tellRead(seq)
  await last
  t.ok(told.length <= 2, `told ${told}`)
})

t.test('devices hear that it works at once and once, who drives it, and its growing text', async t => {
  const { uplink, phone, until, app } = await uplinkHere(t)
  t.equal(uplink.showPartial({ row: 'r', text: 'too early' } as never), false, 'there is no connection yet')
  const session = await phone.session()
  await until(() => uplink.link.type === 'live')
  const told: boolean[] = []
  app.on('ephemeral', frame => {
    if (frame.type === 'activity' && frame.id === session.id) told.push(frame.thinking)
  })
  const works = next(app, 'ephemeral', frame => frame.type === 'activity' && frame.thinking === true)
  uplink.setThinking(true)
  uplink.setThinking(true)
  await works
  await app.emitWithAck('ping')
  t.equal(told.filter(Boolean).length, 1)
  uplink.setControl('terminal')
  await session.until(({ state }) => state.controlledByUser === true)
  uplink.setControl('phone')
  await session.until(({ state }) => state.controlledByUser === false)
  const rests = next(app, 'ephemeral', frame => frame.type === 'activity' && frame.thinking === false)
  uplink.setThinking(false)
  await rests
  const partial = next(app, 'ephemeral', frame => frame.type === 'partial')
  t.equal(uplink.showPartial({ row: 'r', text: 'growing' } as never), true)
  t.equal((await partial).sid, session.id)
})

t.test('calls of its people are answered, and those to watch it may come often', async t => {
  const { phone, until, said, uplink } = await uplinkHere(t)
  const session = await phone.session()
  await until(() => uplink.link.type === 'live')
  await session.call('abort', { reason: 'enough' })
  for (const viewer of ['tablet', 'tablet']) await session.call('watch', { viewer, isWatching: true })
  t.same(said(), ['stop: enough', 'watched by tablet', 'watched by tablet'])
})

t.test('it takes what was changed and removed of its own session, and of no other', async t => {
  const { uplink, phone, person, app, until, metadata } = await uplinkHere(t)
  const session = await phone.session()
  await until(() => uplink.link.type === 'live')
  const { body } = await person.call('GET', '/v1/sessions')
  const cipher = accountVault(phone.secret).openKey(body.sessions[0].dataEncryptionKey)
  const other = await person.openSession()
  const write = async (sid: string, lifecycleState: string) => {
    const known = (await person.call('GET', '/v1/sessions')).body.sessions.find(({ id }: { id: string }) => id === sid)
    const metadata = cipher?.seal({ ...session.metadata, lifecycleState })
    return app.emitWithAck('update-metadata', { sid, metadata, expectedVersion: known.metadataVersion })
  }
  t.equal((await write(other, 'of another')).result, 'success')
  t.equal((await write(session.id, 'archiveRequested')).result, 'success')
  await until(() => metadata().includes('metadata archiveRequested'))
  t.notOk(metadata().includes('metadata of another'))
  t.equal((await person.call('DELETE', `/v1/sessions/${other}`)).status, 200)
  await app.emitWithAck('ping')
  t.equal(uplink.link.type, 'live')
  t.equal((await person.call('DELETE', `/v1/sessions/${session.id}`)).status, 200)
  await uplink.put(newUserText('too late'), 'late')
  await until(() => uplink.link.type === 'gone')
  t.equal(await uplink.end({ ms: 10_000 }), true, 'nobody will want what is left')
})

t.test('it ends when everything was delivered, and is then said to have ended', async t => {
  const { uplink, phone, person, until } = await uplinkHere(t)
  const session = await phone.session()
  await until(() => uplink.link.type === 'live')
  await uplink.put(newUserText('last words', { sentFrom: 'cli' }), 'last')
  t.equal(await uplink.end({ ms: 30_000 }), true)
  const { body } = await person.call('GET', '/v1/sessions')
  t.equal(body.sessions[0].active, false)
  await session.until(({ messages }) => messages.length === 1)
  await session.until(session => session.metadata.lifecycleState === 'archived')
})

t.test('one that has no time to deliver leaves it to the next process, and says so', async t => {
  const { uplink, person } = await uplinkHere(t)
  await uplink.put(newUserText('waits'), 'waits')
  const stop = AbortSignal.abort(new Error('no time'))
  t.equal(await uplink.end({ ms: 30_000, signal: stop }), false)
  t.ok((await person.call('GET', '/v1/sessions')).body.sessions.every(({ active }: { active: boolean }) => active))
})

t.test('an idle session learns after a disconnect that it was archived meanwhile [S1]', async t => {
  const server = await startServer(t)
  const line = await openTcpProxy(t, server.url)
  const { phone, home } = await linkedComputer(t, { url: line.url })
  const wrapper = runWrapper(t, { home, args: ['demo', 'SCRIPT: text hello'] })
  const session = await (await startPhone(t, server, phone.secret)).session()
  // What it has to say at its start is said.
  await session.until(session => turnsEnded(session) === 1)

  await line.closePort()
  const app = await signUp(t, server, phone.secret)
  const { body } = await app.call('GET', '/v1/sessions')
  const [{ id: sid, metadataVersion: expectedVersion, dataEncryptionKey }] = body.sessions
  const cipher = accountVault(phone.secret).openKey(dataEncryptionKey)
  const metadata = cipher?.seal({ ...session.metadata, lifecycleState: 'archiveRequested' })
  const written = await (await app.connect()).emitWithAck('update-metadata', { sid, metadata, expectedVersion })
  t.equal(written.result, 'success')
  await line.openPort()
  t.equal(await wrapper.ended, 0)
  t.match(wrapper.output, /archived on another device/)
})

t.test('a reconnected computer sends a keepalive at once, and not at its next interval', async t => {
  const server = await startServer(t)
  const line = await openTcpProxy(t, server.url)
  const { phone, home } = await linkedComputer(t, line)
  const process = runWrapper(t, { home, args: ['daemon', 'run'] })
  await process.says(/ live\n/)
  const machine = await (await startPhone(t, server, phone.secret)).machine()
  const app = await (await signUp(t, server, phone.secret)).connect()
  let told = 0
  app.on('ephemeral', frame => {
    if (frame.type === 'machine-activity' && frame.active === true) told += 1
  })
  const isBack = next(app, 'ephemeral', frame => frame.active === true)
  line.cut()
  await isBack
  // It answers after what it said when its line was up.
  await machine.until(() => machine.call('choices', {}).then(Boolean, () => false))
  await app.emitWithAck('ping')
  t.equal(told, 2, 'that it came, and its own word')
})
