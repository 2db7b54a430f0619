import t from 'tap'
import { accountVault } from '../../../lib/client/sealed/vault.ts'
import { next, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'
import { turnsEnded } from '../kit/demo.ts'
import { startPhone } from '../kit/phone.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

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
