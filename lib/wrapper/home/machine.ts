import { existsSync } from 'node:fs'
import { homedir, hostname, platform } from 'node:os'
import { dirname } from 'node:path'
import { version } from '../../assets.ts'
import type { Rest } from '../../client/link/rest.ts'
import type { Pin } from '../../client/sealed/call-seals.ts'
import { type TerminalKeys, terminalVault } from '../../client/sealed/vault.ts'
import type { MachineMetadata } from '../../protocol/sealed/machine.ts'
import type { Home } from './credentials.ts'
import { makePrivateFolder, writePrivateFile } from './private-files.ts'

/**
 * Registers this computer with the server. A known one is not changed there, unless it is encrypted with
 * the key of an ended link, which nobody here can read any more: that is replaced. Rejects like
 * `rest.call`.
 */
export async function registerMachine(
  rest: Pick<Rest, 'call'>,
  home: Pick<Home, 'path' | 'machineId'>,
  keys: TerminalKeys,
  signal?: AbortSignal
): Promise<void> {
  const { cipher, wrapped } = terminalVault(keys).machine
  const metadata: MachineMetadata = {
    host: hostname(),
    platform: platform(),
    happyCliVersion: version(),
    homeDir: homedir(),
    happyHomeDir: home.path
  }
  const id = home.machineId
  const open = () => rest.call('openMachine', { body: { id, metadata: cipher.seal(metadata), dataEncryptionKey: wrapped } }, { signal })
  const { machine } = await open()
  if (cipher.open(machine.metadata).ok) return
  await rest.call('removeMachine', { params: { id } }, { signal })
  await open()
}

/** A pin that outlives the process: it is set as long as this file exists. */
export function openPinFile(path: string): Pin {
  let isSet = existsSync(path)
  return {
    get isSet() {
      return isSet
    },
    set() {
      if (isSet) return
      makePrivateFolder(dirname(path))
      writePrivateFile(path, '')
      isSet = true
    }
  }
}
