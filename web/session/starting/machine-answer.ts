import { useEffect, useState } from 'preact/hooks'
import type { MachineCall, ParamsOfMachineCall, ResultOfMachineCall } from '../../../lib/protocol/sealed/calls/machine-calls.ts'
import { isStale } from '../../core/connection.ts'
import { live } from '../../model/account/account.ts'
import { askMachine, type Told } from '../../model/account/asking-machine.ts'

/** What a machine answers to a question that changes nothing; undefined until it has. Asked anew when a part of `on` is another. */
export function useAsked<Name extends MachineCall>(
  machine: string,
  call: Name,
  params: ParamsOfMachineCall<Name>,
  on: readonly unknown[] = []
): { told: Told<ResultOfMachineCall<Name>> | undefined; again(): void } {
  const link = live.value
  const canAsk = !isStale.value
  const [attempt, setAttempt] = useState(0)
  const [told, setTold] = useState<Told<ResultOfMachineCall<Name>>>()
  useEffect(() => {
    if (!link || !canAsk) return
    let isGone = false
    void askMachine(link, machine, call, params).then(answer => !isGone && setTold(answer))
    return () => {
      isGone = true
    }
  }, [link, canAsk, machine, call, attempt, JSON.stringify(params), ...on])
  return { told, again: () => setAttempt(before => before + 1) }
}
