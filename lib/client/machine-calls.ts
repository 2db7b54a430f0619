import type { Cipher } from '../crypto/envelopes.ts'
import { type MachineCall, machineCalls, type ParamsOfMachineCall, type ResultOfMachineCall } from '../protocol/sealed/machine-calls.ts'
import { CallFailed, callMethod, type ServeOptions, type Serving, serveCalls } from './calls.ts'
import type { LiveSocket } from './socket.ts'

/** Calls a method of a machine, with the limits and failures of `callSession`. */
export async function callMachine<Name extends MachineCall>(
  socket: Pick<LiveSocket, 'request'>,
  cipher: Cipher,
  machine: string,
  method: Name,
  params: ParamsOfMachineCall<Name>
): Promise<ResultOfMachineCall<Name>> {
  const result = machineCalls[method].result.safeParse(await callMethod(socket, cipher, machine, method, params))
  if (!result.success) throw new CallFailed('unreadable', 'The answer has an unknown shape.')
  // The table says which schema belongs to which method; a generic lookup loses that.
  return result.data as ResultOfMachineCall<Name>
}

export type MachineHandlers = {
  [Name in MachineCall]: (params: ParamsOfMachineCall<Name>) => ResultOfMachineCall<Name> | Promise<ResultOfMachineCall<Name>>
}

/** Answers the calls of one machine. What a handler throws goes to the caller as its message. */
export function serveMachine({ machine, handlers, ...options }: ServeOptions & { machine: string; handlers: MachineHandlers }): Serving {
  const checked: Record<string, (params: unknown) => unknown> = {}
  const add = <Name extends MachineCall>(name: Name, handler: MachineHandlers[Name]) => {
    checked[name] = params => handler(machineCalls[name].params.parse(params ?? {}) as ParamsOfMachineCall<Name>)
  }
  for (const name of Object.keys(machineCalls) as MachineCall[]) add(name, handlers[name])
  return serveCalls({ ...options, target: machine, handlers: checked })
}
