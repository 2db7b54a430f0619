import { existsSync, statSync, writeFileSync } from 'node:fs'
import { homedir, hostname, platform } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { version } from '../../../lib/assets.ts'
import { terminalVault } from '../../../lib/client/sealed/vault.ts'
import { cryptoReady, engine } from '../../../lib/crypto/index.ts'
import { openPinFile, registerMachine } from '../../../lib/wrapper/home/machine.ts'

type Rest = Parameters<typeof registerMachine>[0]

/** A link of this computer, and a server that has its entry, or gets one. */
async function linked(stored?: string) {
  await cryptoReady()
  const link = () => ({ version: 2 as const, contentPublicKey: engine.randomBytes(32), machineKey: engine.randomBytes(32) })
  const keys = link()
  const { cipher } = terminalVault(keys).machine
  const asked: unknown[] = []
  let row = stored
  const rest = {
    async call(name: string, ask: { body?: { id: string; metadata: string; dataEncryptionKey: string | null }; params?: object }) {
      asked.push([name, ask.body?.id ?? ask.params])
      await new Promise(resolve => setImmediate(resolve))
      if (name === 'removeMachine') {
        // It takes longer than to open one.
        await new Promise(resolve => setImmediate(resolve))
        row = undefined
        return {}
      }
      row ??= ask.body?.metadata
      t.match(ask.body?.dataEncryptionKey, /^[\w+/]{40,}=*$/)
      return { machine: { metadata: row } }
    }
  } as unknown as Rest
  const register = () => registerMachine(rest, { path: '/p', machineId: 'm1' }, keys)
  const opened = () => cipher.open(row ?? '')
  return { keys, asked, register, opened, link, row: () => row }
}

t.test('a computer registers once with what its owner knows it by, and a known one is not changed', async t => {
  const { asked, register, opened, row } = await linked()
  await register()
  t.strictSame(opened(), {
    ok: true,
    value: { host: hostname(), platform: platform(), happyCliVersion: version(), homeDir: homedir(), happyHomeDir: '/p' }
  })
  const before = row()
  await register()
  t.equal(row(), before)
  t.strictSame(asked, [
    ['openMachine', 'm1'],
    ['openMachine', 'm1']
  ])
})

t.test('an entry that only an ended link could read is replaced', async t => {
  const first = await linked()
  await first.register()
  const { asked, register, opened } = await linked(first.row())
  await register()
  t.equal(opened().ok, true)
  t.strictSame(asked, [
    ['openMachine', 'm1'],
    ['removeMachine', { id: 'm1' }],
    ['openMachine', 'm1']
  ])
})

t.test('a pin stays set when its process ends, and others cannot look where it is', async t => {
  const folder = join(t.testdir({}), 'pins')
  const file = join(folder, 'one')
  const pin = openPinFile(file)
  t.equal(pin.isSet, false)
  t.notOk(existsSync(folder))
  pin.set()
  t.equal(pin.isSet, true)
  t.equal(openPinFile(file).isSet, true)
  t.equal(statSync(folder).mode & 0o077, 0)
  t.equal(statSync(file).mode & 0o777, 0o600)
})

t.test('a pin that is set is not written again', async t => {
  const file = join(t.testdir({ pins: {} }), 'pins', 'one')
  const pin = openPinFile(file)
  pin.set()
  writeFileSync(file, 'kept')
  pin.set()
  openPinFile(file).set()
  t.equal(statSync(file).size, 4)
})
