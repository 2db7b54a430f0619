import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { isStale } from '../core/connection.ts'
import { type NewAt, pathOf } from '../core/routes.ts'
import { WithCommand } from '../machines/with-command.tsx'
import { live } from '../model/account/account.ts'
import { home } from '../model/home.ts'
import { hasDaemon, nameOfMachine, stateOfMachine } from '../model/machines.ts'
import type { Picked } from '../model/session/picked-file.ts'
import type { MachineView } from '../model/store.ts'
import { Bar } from '../ui/bar.tsx'
import { TextArea } from '../ui/field.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { words as app } from '../words/index.ts'
import { session } from '../words/session.ts'
import { start as words } from '../words/start.ts'
import { CommandCards, FirstTime } from './commands.tsx'
import { StartForm } from './form.tsx'
import { keepLastStart, type LastStart, useLastStart } from './last-start.ts'

/** Starts a session on a machine with a running daemon; otherwise shows what to do on the computer. */
export function NewScreen({ at }: { at: NewAt }) {
  const last = useLastStart()
  if (last === undefined) return <div class="screen" aria-busy="true" />
  return <Beginning at={at} last={last} />
}

function Beginning({ at, last }: { at: NewAt; last: LastStart }) {
  const machines = machinesToChoose(home.value.machines)
  const [chosen, choose] = useState(at.machine ?? last.machine)
  const [text, setText] = useState(at.prompt ?? last.text ?? '')
  const [files, setFiles] = useState<readonly Picked[]>([])
  const machine = machines.find(({ id }) => id === chosen) ?? machines[0]
  const write = (next: string) => {
    setText(next)
    keepLastStart({ text: next })
  }
  if (machine === undefined) {
    return (
      <Page>
        <CommandCards />
        <FirstTime />
      </Page>
    )
  }
  const picker = machines.length > 1 && <MachinePicker machines={machines} chosen={machine.id} onChoose={choose} />
  const link = live.value
  // A machine that never had a daemon has nothing that could start it.
  if (!canBegin(machine) || link === undefined) {
    return (
      <Page>
        <TextArea label={words.what} hint={words.whatHint} value={text} onInput={write} rows={3} />
        {picker}
        <NoDaemon machine={machine} keepsText={text.trim() !== ''} />
        <CommandCards />
        <FirstTime />
      </Page>
    )
  }
  return (
    <StartForm
      key={machine.id}
      link={link}
      machine={machine}
      last={last.machine === undefined || last.machine === machine.id ? last : { folders: last.folders }}
      folder={machine.id === at.machine ? at.folder : undefined}
      text={text.trim()}
      files={{ chosen: files, onChange: setFiles }}
      onStarted={() => write('')}
    >
      <TextArea label={words.what} hint={words.whatHint} value={text} onInput={write} rows={3} />
      {picker}
      {!isStale.value && !hasDaemon(machine) && <NoDaemon machine={machine} keepsText={false} />}
    </StartForm>
  )
}

function Page({ children }: { children: ComponentChildren }) {
  return (
    <div class="screen">
      <Bar title={words.title} back={pathOf({ name: 'home' })} />
      <div class="scroll">
        <div class="col form">{children}</div>
      </div>
    </div>
  )
}

function MachinePicker(props: { machines: readonly MachineView[]; chosen: string; onChoose(id: string): void }) {
  return (
    <section class="grp">
      <h2 id="machine-h">{words.machine}</h2>
      <div class="card tight" role="radiogroup" aria-labelledby="machine-h">
        {props.machines.map(machine => (
          <label key={machine.id} class="irow">
            <input type="radio" name="machine" checked={machine.id === props.chosen} onChange={() => props.onChoose(machine.id)} />
            <span>
              <b dir="auto">{nameOfMachine(machine)}</b>
              <small>{readiness(machine)}</small>
            </span>
            <i class={`dot ${hasDaemon(machine) ? 'on' : ''}`} />
          </label>
        ))}
      </div>
    </section>
  )
}

/** What is missing to start a session there, and what to do about it on the computer. */
function NoDaemon({ machine, keepsText }: { machine: MachineView; keepsText: boolean }) {
  const isAway = canBegin(machine) && !isThere(machine)
  return (
    <section class="card">
      <h2 class="card-h with-icon">
        <Icon name={isAway ? 'moon' : 'circle-alert'} />
        {(isAway ? session : words).awayTitle(nameOfMachine(machine))}
      </h2>
      <p class="lead">
        <WithCommand sentence={isAway ? words.wakeText : words.awayText} /> {keepsText && words.keepsText}
      </p>
    </section>
  )
}

function readiness(machine: MachineView): string {
  if (hasDaemon(machine)) return words.ready
  if (!canBegin(machine)) return words.noDaemon
  return isThere(machine) ? app.session.daemonGone : words.whenBack
}

/** Now, or once the machine is back. */
function canBegin(machine: MachineView): boolean {
  return hasDaemon(machine) || machine.daemonState?.status === 'running'
}

/** The machine is online, even if its daemon is not. */
function isThere(machine: MachineView): boolean {
  return stateOfMachine(machine, home.value) === 'online'
}

/** Machines that can start a session first, then by name. */
function machinesToChoose(all: ReadonlyMap<string, MachineView>): MachineView[] {
  return [...all.values()]
    .filter(({ metadata }) => metadata !== undefined)
    .sort((a, b) => Number(hasDaemon(b)) - Number(hasDaemon(a)) || nameOfMachine(a).localeCompare(nameOfMachine(b)))
}
