import { CallFailed, type CallFailureReason, callMachine } from '../../../lib/client/index.ts'
import type { MachineCall, ParamsOfMachineCall, ResultOfMachineCall } from '../../../lib/protocol/sealed/calls/machine-calls.ts'
import type { ServerLink } from './server-link.ts'

export type MachineLink = Pick<ServerLink, 'socket' | 'cipherOfMachine'>

export type Trouble = { readonly type: 'failed'; readonly why: CallFailureReason; readonly says: string }

export type MachineAnswer<Result> = { readonly type: 'answered'; readonly result: Result } | Trouble

/** There is no link to the server, so nothing was sent. */
export const notConnected: Trouble = { type: 'failed', why: 'not-connected', says: '' }

/** Calls the daemon of a machine; the reason for a failure is also a result. */
export async function askMachine<Name extends MachineCall>(
  link: MachineLink | undefined,
  machine: string,
  call: Name,
  params: ParamsOfMachineCall<Name>
): Promise<MachineAnswer<ResultOfMachineCall<Name>>> {
  if (!link) return notConnected
  try {
    const cipher = link.cipherOfMachine(machine)
    if (!cipher) throw new CallFailed('unreadable', '')
    return { type: 'answered', result: await callMachine(link.socket, cipher, machine, call, params) }
  } catch (error) {
    return troubleOf(error)
  }
}

export function troubleOf(error: unknown): Trouble {
  const { reason, message } = error instanceof CallFailed ? error : new CallFailed('unreadable', String(error))
  return { type: 'failed', why: reason, says: message }
}
