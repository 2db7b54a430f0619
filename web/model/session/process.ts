import { callMachine } from '../../../lib/client/index.ts'
import type { MachineProcess } from '../../../lib/protocol/sealed/calls/machine-work.ts'
import type { Live } from '../account/live.ts'

/** The process of a session on its machine; undefined if the machine does not report it, or has none. */
export async function readProcess(
  link: Pick<Live, 'socket' | 'cipherOfMachine'>,
  machine: string,
  session: string
): Promise<MachineProcess | undefined> {
  const cipher = link.cipherOfMachine(machine)
  if (!cipher) return undefined
  return callMachine(link.socket, cipher, machine, 'processes', {}).then(
    ({ processes }) => processes.find(process => process.session === session),
    () => undefined
  )
}
