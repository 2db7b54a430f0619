import { now } from '../core/clock.ts'
import { home } from '../model/home.ts'
import { machineAwaySince, nameOfMachine, sessionsOn, stateOfMachine, systemName } from '../model/machines.ts'
import type { MachineView } from '../model/store.ts'
import { LinkRow } from '../session/row/row.tsx'
import { Bar } from '../ui/bar.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { homeWords } from '../words/home.ts'
import { words } from '../words/index.ts'
import { LinkCommand } from './link-command.tsx'

export function MachinesScreen() {
  const machines = [...home.value.machines.values()].sort((a, b) => nameOfMachine(a).localeCompare(nameOfMachine(b)))
  return (
    <div class="screen">
      <Bar title={words.machines.title}>
        <a class="ib" href="/scan" aria-label={words.machines.add}>
          <Icon name="plus" />
        </a>
      </Bar>
      <div class="scroll">
        <div class="col form">
          {machines.length === 0 ? (
            <Empty title={words.machines.empty} text={words.machines.emptyText}>
              <LinkCommand />
              <ButtonLink look="primary" href="/scan" icon="scan-line">
                {homeWords.scan}
              </ButtonLink>
            </Empty>
          ) : (
            <>
              <div class="card tight">
                {machines.map(machine => (
                  <MachineRow key={machine.id} machine={machine} />
                ))}
              </div>
              <ButtonLink look="quiet" href="/scan" icon="scan-line" isWide>
                {words.machines.add}
              </ButtonLink>
            </>
          )}
        </div>
      </div>
    </div>
  )
}

function MachineRow({ machine }: { machine: MachineView }) {
  const { id } = machine
  const state = stateOfMachine(machine, home.value)
  const status = state === 'away' ? machineAwaySince(machine, now.value) : words.machines.agents(running(machine))
  const system = machine.metadata && systemName(machine.metadata.platform)
  return (
    <LinkRow
      href={`/machines/${encodeURIComponent(id)}`}
      icon={state === 'away' ? 'moon' : 'monitor'}
      title={nameOfMachine(machine)}
      text={[system, status].filter(part => part !== undefined).join(' · ')}
    >
      <i class={`dot ${state === 'online' ? 'on' : ''}`} />
      <span class="vh">{words.machines[state]}</span>
    </LinkRow>
  )
}

function running(machine: MachineView): number {
  return sessionsOn(machine, home.value).filter(session => session.isActive).length
}
