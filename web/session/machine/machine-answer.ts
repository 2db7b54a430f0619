import { useEffect, useState } from 'preact/hooks'
import type { MachineCall, ParamsOfMachineCall, ResultOfMachineCall } from '../../../lib/protocol/sealed/calls/machine-calls.ts'
import { isStale } from '../../core/connection.ts'
import { live } from '../../model/account/account.ts'
import { askMachine, type Told } from '../../model/account/machine-call.ts'

/** The result of a read-only call to a machine; undefined until it arrives. Called again when a part of `on` changes. */
export function useMachineAnswer<Name extends MachineCall>(
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
