import {
  type MachineCall,
  machineCalls,
  type ParamsOfMachineCall,
  type ResultOfMachineCall
} from '../../protocol/sealed/calls/machine-calls.ts'
import type { LiveSocket } from '../link/socket.ts'
import type { PeerCipher } from '../sealed/call-seals.ts'
import { type CallFacts, callMethod, checkParams, readResult, type ServeOptions, type Serving, serveCalls } from './calls.ts'

/** Calls a method of a machine, with the limits and failures of `callSession`. */
export async function callMachine<Name extends MachineCall>(
  socket: Pick<LiveSocket, 'request'>,
  cipher: PeerCipher,
  machine: string,
  method: Name,
  params: ParamsOfMachineCall<Name>
): Promise<ResultOfMachineCall<Name>> {
  // The table says which schema belongs to which method; a generic lookup loses that.
  return readResult(machineCalls[method].result, await callMethod(socket, cipher, machine, method, params)) as ResultOfMachineCall<Name>
}

export type MachineHandlers = {
  [Name in MachineCall]: (
    params: ParamsOfMachineCall<Name>,
    ...call: CallFacts
  ) => ResultOfMachineCall<Name> | Promise<ResultOfMachineCall<Name>>
}

/** Answers the calls of one machine. Errors thrown by a handler go to the caller as their message. */
export function serveMachine({
  machine,
  handlers,
  ...options
}: ServeOptions & { machine: string; handlers: Partial<MachineHandlers> }): Serving {
  return serveCalls({ ...options, target: machine, handlers: checkParams(machineCalls, handlers) })
}
