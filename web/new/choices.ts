import { isStale } from '../core/connection.ts'
import type { Live } from '../model/account/live.ts'
import { type Choices, describeFolder, type KnownChoices, readChoices } from '../model/machine-choices.ts'
import { hasDaemon, isOurs } from '../model/machines.ts'
import type { MachineView } from '../model/store.ts'
import { useAnswer } from '../ui/behavior/answer.ts'
import { isAllowed } from './folder.tsx'
import { type KnownFolder, recentOf } from './known-folders.tsx'
import { keepChoices, lastChoices } from './last-choices.ts'

interface Unknown {
  readonly type: 'unknown'
}

/** The options for a session on a machine: current if it can be asked, otherwise as last reported; `unknown` if it never reported any. */
export function useChoices(link: Live, machine: MachineView, attempt: number): KnownChoices | Unknown | undefined {
  // Until the link is live the key of the machine may be missing.
  const canAsk = canAskNow(machine)
  const { id } = machine
  const ask = async (): Promise<KnownChoices | Unknown> => {
    if (!canAsk) {
      const choices = await lastChoices(id)
      return choices ? { type: 'choices', choices } : { type: 'unknown' }
    }
    const read = await readChoices(link, id)
    if (read.type === 'choices') void keepChoices(id, read.choices)
    return read
  }
  return useAnswer(ask, [link, id, attempt, canAsk]).value
}

/** A folder with its details; for one that is not among the recent folders, the machine is asked. */
export function useFolder(
  link: Live,
  machine: MachineView,
  choices: Choices | undefined,
  path: string | undefined
): KnownFolder | undefined {
  const recent = recentOf(choices).find(folder => folder.path === path)
  const { id } = machine
  const asks = path !== undefined && choices !== undefined && !recent && isOurs(machine) && canAskNow(machine)
  const { value: described } = useAnswer(asks && (() => describeFolder(link, id, path)), [link, id, path])
  if (path === undefined || recent) return recent
  return { ...described, path }
}

/** The folder of the last session, unless the machine would refuse it now; otherwise the most recent folder there. */
export function folderToBegin(last: string | undefined, choices: Choices | undefined): string | undefined {
  const isGood = (folder: string) => choices === undefined || isAllowed(folder, choices)
  return [last, ...recentOf(choices).map(({ path }) => path)].find(folder => folder !== undefined && isGood(folder))
}

function canAskNow(machine: MachineView): boolean {
  return !isStale.value && hasDaemon(machine)
}
