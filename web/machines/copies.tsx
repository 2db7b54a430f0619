import { useState } from 'preact/hooks'
import type { ResultOfMachineCall } from '../../lib/protocol/sealed/calls/machine-calls.ts'
import { live } from '../model/account/account.ts'
import { askMachine, type Trouble } from '../model/account/machine-call.ts'
import { nameOfMachine } from '../model/machines.ts'
import { folderName } from '../model/sessions.ts'
import type { MachineView } from '../model/store.ts'
import { useMachineAnswer } from '../session/machine/machine-answer.ts'
import { TroubleCard } from '../session/machine/trouble.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { machine as words } from '../words/machine.ts'
import { start } from '../words/start.ts'

type Copy = ResultOfMachineCall<'worktrees'>['worktrees'][number]

/** The worktrees created for sessions, and a way to remove them. */
export function Copies({ machine, running }: { machine: MachineView; running: number }) {
  const { answer, again } = useMachineAnswer(machine.id, 'worktrees', {}, [running])
  const [asked, ask] = useState<Copy>()
  if (answer?.type !== 'answered' || answer.result.worktrees.length === 0) return null
  return (
    <section class="grp">
      <h2>{words.copies}</h2>
      <ul class="card tight">
        {answer.result.worktrees.map(copy => (
          <li key={copy.path} class="irow process">
            <Icon name="git-branch" />
            <span>
              <b dir="auto">{copy.branch}</b>
              <small dir="auto">{[folderName(copy.repository), stateOf(copy)].join(' · ')}</small>
            </span>
            {!copy.isInUse && (
              <button class="txt danger-t" type="button" aria-label={words.removeOf(copy.branch)} onClick={() => ask(copy)}>
                {words.remove}
              </button>
            )}
          </li>
        ))}
      </ul>
      <p class="hint">{words.copiesHint}</p>
      {asked && <RemoveSheet machine={machine} copy={asked} onRemoved={again} onClose={() => ask(undefined)} />}
    </section>
  )
}

function stateOf({ dirty, ahead, isInUse }: Copy): string {
  const parts = [isInUse && words.inUse, dirty > 0 && words.dirty(dirty), ahead > 0 && words.ahead(ahead)].filter(part => part !== false)
  return parts.length === 0 ? words.nothingOwn : parts.join(' · ')
}

function RemoveSheet(props: { machine: MachineView; copy: Copy; onRemoved(): void; onClose(): void }) {
  const { machine, copy } = props
  const [trouble, setTrouble] = useState<Trouble>()
  const { isBusy, run } = useBusy()
  const remove = () =>
    run(async () => {
      setTrouble(undefined)
      const answer = await askMachine(live.peek(), machine.id, 'remove-worktree', { path: copy.path, force: copy.dirty > 0 })
      if (answer.type === 'failed') return setTrouble(answer)
      props.onRemoved()
      closeLayer()
    })
  return (
    <Sheet title={words.removeTitle(copy.branch)} onClose={props.onClose}>
      <code class="path-t">{copy.path}</code>
      {copy.dirty > 0 && <p class="danger-t">{words.removeDirty(copy.dirty)}</p>}
      <p class="lead">{words.removeText}</p>
      {trouble && <TroubleCard title={words.notRemoved} trouble={trouble} host={nameOfMachine(machine)} />}
      <div class="acts">
        <Button look="quiet" isLarge onClick={closeLayer}>
          {start.cancel}
        </Button>
        <Button look="danger" isLarge onClick={() => void remove()} busy={isBusy && words.removing}>
          {words.remove}
        </Button>
      </div>
    </Sheet>
  )
}
