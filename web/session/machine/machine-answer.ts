import { useEffect, useState } from 'preact/hooks'
import type { MachineCall, ParamsOfMachineCall, ResultOfMachineCall } from '../../../lib/protocol/sealed/calls/machine-calls.ts'
import { isStale } from '../../core/connection.ts'
import { live } from '../../model/account/account.ts'
import { askMachine, type MachineAnswer } from '../../model/account/machine-call.ts'

/** The result of a read-only call to a machine; undefined until it arrives. Called again when a part of `on` changes. */
export function useMachineAnswer<Name extends MachineCall>(
  machine: string,
  call: Name,
  params: ParamsOfMachineCall<Name>,
  on: readonly unknown[] = []
): { answer: MachineAnswer<ResultOfMachineCall<Name>> | undefined; again(): void } {
  const link = live.value
  const canAsk = !isStale.value
  const [attempt, setAttempt] = useState(0)
  const [answer, setAnswer] = useState<MachineAnswer<ResultOfMachineCall<Name>>>()
  useEffect(() => {
    if (!link || !canAsk) return
    let isGone = false
    void askMachine(link, machine, call, params).then(answer => !isGone && setAnswer(answer))
    return () => {
      isGone = true
    }
  }, [link, canAsk, machine, call, attempt, JSON.stringify(params), ...on])
  return { answer, again: () => setAttempt(before => before + 1) }
}
