import type { Test } from 'tap'
import { createRest } from '../../../lib/client/link/rest.ts'
import { newId, sealDraft } from '../../../lib/client/sealed/messages.ts'
import { type AccountVault, accountVault } from '../../../lib/client/sealed/vault.ts'
import { type Cipher, formatBackupKey } from '../../../lib/crypto/index.ts'
import type { MessageBody } from '../../../lib/protocol/sealed/messages.ts'
import type { ServerSetup } from '../../../lib/server/create.ts'
import type { openDevices } from '../../kit/browser.ts'
import { signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'

type Devices = Awaited<ReturnType<typeof openDevices>>

/** A device of an account, and sessions whose messages the test seals itself, with any key. */
export async function sealedWorld(t: Test, devices: Devices, setup: ServerSetup = {}) {
  const server = await startServer(t, setup)
  const person = await signUp(t, server)
  const vault = accountVault(person.secret)
  const rest = createRest({ server: server.url, token: person.token, fetch })
  const device = await devices.open(t, server.url)
  device.page.setDefaultTimeout(20_000)
  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(person.secret))
  await device.press('Restore')
  await device.see('Live')
  return {
    device,
    vault,
    person,
    async open(key: ReturnType<AccountVault['newKey']>, title: string, { state = key.cipher } = {}): Promise<string> {
      const summary = { text: title, updatedAt: Date.now() }
      const about = { path: '/home/mira/orchard', host: 'studio-mini', summary, lifecycleState: 'running' }
      const body = { tag: newId(), metadata: key.cipher.seal(about), agentState: state.seal({}), dataEncryptionKey: key.wrapped }
      return (await rest.call('openSession', { body })).session.id
    },
    async say(id: string, cipher: Cipher, ...bodies: MessageBody[]): Promise<void> {
      const messages = bodies.map(body => sealDraft(cipher, id, body))
      await rest.call('appendMessages', { params: { id }, body: { messages } })
    }
  }
}
