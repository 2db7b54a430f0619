import { Icon } from '../icons/icon.tsx'
import { Bar } from '../parts/bar.tsx'
import { ButtonLink } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { LinkCommand } from '../parts/link-command.tsx'
import { LinkRow } from '../parts/row.tsx'
import { now } from '../state/clock.ts'
import { home } from '../state/home.ts'
import { awaySince, nameOfMachine, sessionsOn, stateOfMachine, systemName } from '../state/machines.ts'
import type { MachineView } from '../state/store.ts'
import { words } from '../words/index.ts'

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
                {words.home.scan}
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
  const told = state === 'away' ? awaySince(machine, now.value) : words.machines.agents(running(machine))
  const system = machine.metadata && systemName(machine.metadata.platform)
  return (
    <LinkRow
      href={`/machines/${encodeURIComponent(id)}`}
      icon={state === 'away' ? 'moon' : 'monitor'}
      title={nameOfMachine(machine)}
      text={[system, told].filter(part => part !== undefined).join(' · ')}
    >
      <i class={`dot ${state === 'online' ? 'on' : ''}`} />
      <span class="vh">{words.machines[state]}</span>
    </LinkRow>
  )
}

function running(machine: MachineView): number {
  return sessionsOn(machine, home.value).filter(session => session.isActive).length
}
