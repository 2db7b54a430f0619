import { useEffect, useState } from 'preact/hooks'
import type { MachineProcess } from '../../lib/protocol/sealed/calls/machine-work.ts'
import { now } from '../core/clock.ts'
import { pathOf } from '../core/routes.ts'
import { live } from '../model/account/account.ts'
import { askMachine, type Trouble } from '../model/account/machine-call.ts'
import { home } from '../model/home.ts'
import { nameOfMachine } from '../model/machines.ts'
import { folderName, stateOfSession, titleOf } from '../model/sessions.ts'
import type { MachineView, SessionView } from '../model/store.ts'
import { useMachineAnswer } from '../session/machine/machine-answer.ts'
import { TroubleCard } from '../session/machine/trouble.tsx'
import { rowIcon } from '../session/row/row.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button } from '../ui/button.tsx'
import { Glyph } from '../ui/icons/glyph.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { words } from '../words/index.ts'
import { machine as machineWords } from '../words/machine.ts'
import { bytes } from '../words/size.ts'
import { duration } from '../words/time.ts'
import { SessionCard } from './sessions.tsx'

const lookEveryMs = 15_000

/** The processes on a machine, as its daemon reports them: sessions with their memory, and leftover agents. */
export function Processes({ machine, active }: { machine: MachineView; active: readonly SessionView[] }) {
  const { answer, again } = useMachineAnswer(machine.id, 'processes', {}, [active.length])
  const [asked, ask] = useState<MachineProcess>()
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), lookEveryMs)
    return () => clearInterval(timer)
  }, [machine.id])
  const processes = answer?.type === 'answered' ? answer.result.processes : []
  const leftOver = processes.filter(({ isLeftOver }) => isLeftOver)
  const running = processes.filter(({ isLeftOver }) => !isLeftOver)
  const seen = new Set(running.map(({ session }) => session))
  const others = active.filter(({ id }) => !seen.has(id))
  return (
    <>
      <section class="grp">
        <h2>{words.machine.running}</h2>
        {running.length > 0 && <ProcessList processes={running} onAsk={ask} />}
        {others.length > 0 && <SessionCard sessions={others} />}
        {running.length === 0 && others.length === 0 && <p class="lead">{words.machine.none}</p>}
      </section>
      {leftOver.length > 0 && (
        <section class="grp">
          <h2>{machineWords.leftOver}</h2>
          <ProcessList processes={leftOver} onAsk={ask} />
          <p class="hint">{machineWords.leftOverHint}</p>
        </section>
      )}
      {asked && <EndSheet machine={machine} process={asked} onEnded={again} onClose={() => ask(undefined)} />}
    </>
  )
}

function ProcessList({ processes, onAsk }: { processes: readonly MachineProcess[]; onAsk(process: MachineProcess): void }) {
  return (
    <ul class="card tight">
      {processes.map(process => (
        <li key={process.id} class="irow process">
          <Shape process={process} />
          <span>
            <Name process={process} />
            <small>{whatItTakes(process)}</small>
          </span>
          <button
            class="txt danger-t"
            type="button"
            aria-label={process.isLeftOver ? machineWords.endOf(nameOf(process)) : machineWords.stopOf(nameOf(process))}
            onClick={() => onAsk(process)}
          >
            {process.isLeftOver ? machineWords.end : machineWords.stop}
          </button>
        </li>
      ))}
    </ul>
  )
}

/** The state of its session; otherwise an icon for its kind. */
function Shape({ process: { session, isLeftOver } }: { process: MachineProcess }) {
  const known = session === undefined ? undefined : home.value.sessions.get(session)
  if (known === undefined) return <Icon name={isLeftOver ? 'triangle-alert' : 'square-terminal'} />
  const state = stateOfSession(known, home.value)
  return (
    <>
      <Glyph state={state} icon={rowIcon(known)} />
      <span class="vh">{words.state[state]}. </span>
    </>
  )
}

function Name({ process }: { process: MachineProcess }) {
  const { session, title, folder } = process
  if (session === undefined) {
    return (
      <>
        <b dir="auto">{title}</b>
        {folder !== undefined && (
          <small>
            <bdi>{folder}</bdi>
          </small>
        )}
      </>
    )
  }
  return (
    <>
      <a class="process-t" href={pathOf({ name: 'session', id: session, view: [] })} dir="auto">
        {nameOf(process)}
      </a>
      <small dir="auto">{folder === undefined ? title : `${title} · ${folderName(folder)}`}</small>
    </>
  )
}

/** The title of its session; otherwise the name of the process. */
function nameOf({ session, title }: MachineProcess): string {
  const known = session === undefined ? undefined : home.value.sessions.get(session)
  return (known && titleOf(known)) ?? title
}

function whatItTakes({ pid, memoryBytes, startedAt }: MachineProcess): string {
  return [machineWords.pid(pid), bytes(memoryBytes), machineWords.age(duration(Math.max(0, now.value - startedAt)))].join(' · ')
}

function EndSheet(props: { machine: MachineView; process: MachineProcess; onEnded(): void; onClose(): void }) {
  const { machine, process } = props
  const { isLeftOver } = process
  const [trouble, setTrouble] = useState<Trouble>()
  const { isBusy, run } = useBusy()
  const end = () =>
    run(async () => {
      setTrouble(undefined)
      const answer = await askMachine(live.peek(), machine.id, 'end-process', { id: process.id })
      if (answer.type === 'failed') return setTrouble(answer)
      props.onEnded()
      closeLayer()
    })
  return (
    <Sheet title={isLeftOver ? machineWords.endTitle(nameOf(process)) : machineWords.stopTitle(nameOf(process))} onClose={props.onClose}>
      <p class="lead">{isLeftOver ? machineWords.endText : machineWords.stopText}</p>
      <p class="hint">{whatItTakes(process)}</p>
      {trouble && <TroubleCard title={machineWords.notEnded} trouble={trouble} host={nameOfMachine(machine)} />}
      <Button look="danger" isLarge isWide onClick={() => void end()} busy={isBusy && machineWords.ending}>
        {isLeftOver ? machineWords.end : machineWords.stop}
      </Button>
    </Sheet>
  )
}
