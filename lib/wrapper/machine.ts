import { homedir, hostname, platform } from 'node:os'
import { version } from '../assets.ts'
import type { Rest } from '../client/rest.ts'
import { type TerminalKeys, terminalVault } from '../client/vault.ts'
import type { MachineMetadata } from '../protocol/sealed/machine.ts'
import type { Home } from './credentials.ts'

/** Tells the server of this computer. One that it knows already is left as it is there. Rejects like `rest.call`. */
export async function registerMachine(rest: Pick<Rest, 'call'>, home: Pick<Home, 'path' | 'machineId'>, keys: TerminalKeys): Promise<void> {
  const { cipher, wrapped } = terminalVault(keys).machine
  const metadata: MachineMetadata = {
    host: hostname(),
    platform: platform(),
    happyCliVersion: version(),
    homeDir: homedir(),
    happyHomeDir: home.path
  }
  await rest.call('openMachine', { body: { id: home.machineId, metadata: cipher.seal(metadata), dataEncryptionKey: wrapped } })
}
