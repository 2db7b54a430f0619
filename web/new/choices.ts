import { useEffect, useState } from 'preact/hooks'
import { isStale } from '../core/connection.ts'
import type { Live } from '../model/account/live.ts'
import { type Choices, describeFolder, type KnownChoices, readChoices } from '../model/machine-choices.ts'
import { hasHelper, isOurs } from '../model/machines.ts'
import type { MachineView } from '../model/store.ts'
import { isAllowed } from './folder.tsx'
import { type KnownFolder, recentOf } from './folder-making.tsx'
import { keepChoices, lastChoices } from './last-choices.ts'

interface Unknown {
  readonly type: 'unknown'
}

/** What a session on the machine can be made of: as it says now, or as it said last; `unknown` when it never said. */
export function useChoices(link: Live, machine: MachineView, attempt: number): KnownChoices | Unknown | undefined {
  const [choices, setChoices] = useState<KnownChoices | Unknown>()
  // Before the link is whole the key of the machine may not be here yet.
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

/** The folder with what is known of it; the machine is asked about one that is not among the recent ones. */
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

/** Where the last session began, unless the machine would refuse it now; else where the latest one there is. */
export function folderToBegin(last: string | undefined, choices: Choices | undefined): string | undefined {
  const isGood = (folder: string) => choices === undefined || isAllowed(folder, choices)
  return [last, ...recentOf(choices).map(({ path }) => path)].find(folder => folder !== undefined && isGood(folder))
}

function canAskNow(machine: MachineView): boolean {
  return !isStale.value && hasHelper(machine)
}
