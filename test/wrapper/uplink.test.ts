import t from 'tap'
import { accountVault } from '../../lib/client/vault.ts'
import { signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { openTcpProxy } from '../kit/tcp-proxy.ts'
import { turnsEnded } from './kit/demo.ts'
import { startPhone } from './kit/phone.ts'
import { linkedComputer } from './kit/world.ts'
import { runWrapper } from './kit/wrapper.ts'

t.test('an idle session hears after a cut that it was archived meanwhile [S1]', async t => {
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
