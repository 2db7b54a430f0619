import { isStale } from '../core/connection.ts'
import type { Live } from '../model/account/live.ts'
import { type Choices, describeFolder, type KnownChoices, readChoices } from '../model/machine-choices.ts'
import { hasDaemon, isOurs } from '../model/machines.ts'
import type { MachineView } from '../model/store.ts'
import { useAnswer } from '../ui/behavior/answer.ts'
import { keepChoices, lastChoices } from './last-choices.ts'

export type KnownFolder = NonNullable<Choices['folders']>[number]

/** The recent folders of a machine, with their details. */
export function recentOf(choices: Choices | undefined): KnownFolder[] {
  return (choices?.recentFolders ?? []).map(path => choices?.folders?.find(folder => folder.path === path) ?? { path })
}

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

/** Whether the machine would start a session in a folder, judging by its path. */
export function isAllowed(folder: string, { allowedFolders, home }: Pick<Choices, 'allowedFolders' | 'home'>): boolean {
  if (allowedFolders === undefined) return true
  const path = folder === '~' ? home : folder.replace(/^~(?=[\\/])/, home)
  return allowedFolders.some(root => path === root || root === '/' || path.startsWith(`${root}${root.includes('\\') ? '\\' : '/'}`))
}

function canAskNow(machine: MachineView): boolean {
  return !isStale.value && hasDaemon(machine)
}
