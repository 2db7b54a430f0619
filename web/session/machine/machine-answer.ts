import type { MachineCall, ParamsOfMachineCall, ResultOfMachineCall } from '../../../lib/protocol/sealed/calls/machine-calls.ts'
import { isStale } from '../../core/connection.ts'
import { live } from '../../model/account/account.ts'
import { askMachine, type MachineAnswer } from '../../model/account/machine-call.ts'
import { useAnswer } from '../../ui/behavior/answer.ts'

/** The result of a read-only call to a machine; undefined until it arrives. Called again when a part of `on` changes. */
export function useMachineAnswer<Name extends MachineCall>(
  machine: string,
  call: Name,
  params: ParamsOfMachineCall<Name>,
  on: readonly unknown[] = []
): { answer: MachineAnswer<ResultOfMachineCall<Name>> | undefined; again(): void } {
  const link = live.value
  const canAsk = !isStale.value
  const ask = link && canAsk && (() => askMachine(link, machine, call, params))
  const { last: answer, again } = useAnswer(ask, [link, machine, call, JSON.stringify(params), ...on])
  return { answer, again }
}
