import { useEffect, useState } from 'preact/hooks'
import { isStale } from '../core/connection.ts'
import type { Live } from '../model/account/live.ts'
import { type Choices, describeFolder, type KnownChoices, readChoices } from '../model/machine-choices.ts'
import { hasDaemon, isOurs } from '../model/machines.ts'
import type { MachineView } from '../model/store.ts'
import { isAllowed } from './folder.tsx'
import { type KnownFolder, recentOf } from './known-folders.tsx'
import { keepChoices, lastChoices } from './last-choices.ts'

interface Unknown {
  readonly type: 'unknown'
}

/** The options for a session on a machine: current if it can be asked, otherwise as last reported; `unknown` if it never reported any. */
export function useChoices(link: Live, machine: MachineView, attempt: number): KnownChoices | Unknown | undefined {
  const [choices, setChoices] = useState<KnownChoices | Unknown>()
  // Until the link is live the key of the machine may be missing.
  const canAsk = canAskNow(machine)
  const { id } = machine
  useEffect(() => {
    let isGone = false
    setChoices(undefined)
    const asked = canAsk
      ? readChoices(link, id)
      : lastChoices(id).then((choices): KnownChoices | Unknown => (choices ? { type: 'choices', choices } : { type: 'unknown' }))
    void asked.then(read => {
      if (isGone) return
      setChoices(read)
      if (canAsk && read.type === 'choices') void keepChoices(id, read.choices)
    })
    return () => {
      isGone = true
    }
  }, [link, id, attempt, canAsk])
  return choices
}

/** A folder with its details; for one that is not among the recent folders, the machine is asked. */
export function useFolder(link: Live, machine: MachineView, choices: Choices | undefined, path: string | undefined) {
  const [described, setDescribed] = useState<{ of: string; folder: KnownFolder }>()
  const recent = recentOf(choices).find(folder => folder.path === path)
  const { id } = machine
  const asks = path !== undefined && choices !== undefined && !recent && isOurs(machine) && canAskNow(machine)
  useEffect(() => {
    if (!asks) return
    let isGone = false
    void describeFolder(link, id, path).then(
      folder => !isGone && folder && setDescribed({ of: `${id} ${path}`, folder: { ...folder, path } })
    )
    return () => {
      isGone = true
    }
  }, [link, id, path, asks])
  if (path === undefined || recent) return recent
  return described?.of === `${id} ${path}` ? described.folder : { path }
}

/** The folder of the last session, unless the machine would refuse it now; otherwise the most recent folder there. */
export function folderToBegin(last: string | undefined, choices: Choices | undefined): string | undefined {
  const isGood = (folder: string) => choices === undefined || isAllowed(folder, choices)
  return [last, ...recentOf(choices).map(({ path }) => path)].find(folder => folder !== undefined && isGood(folder))
}

function canAskNow(machine: MachineView): boolean {
  return !isStale.value && hasDaemon(machine)
}
