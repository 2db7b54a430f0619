import { now } from '../core/clock.ts'
import { isStale } from '../core/connection.ts'
import { pathOf } from '../core/routes.ts'
import { home } from '../model/home.ts'
import { hasDaemon, machineAwaySince, sessionsOn, stateOfMachine, stoppedAt, systemName } from '../model/machines.ts'
import type { MachineView, SessionView } from '../model/store.ts'
import { Bar } from '../ui/bar.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { words } from '../words/index.ts'
import { agoInWords, date } from '../words/time.ts'
import { Daemon } from './daemon.tsx'
import { LinkCommand } from './link-command.tsx'
import { Processes } from './processes.tsx'
import { SessionCard } from './sessions.tsx'
import { Unlink } from './unlink.tsx'
import { WithCommand } from './with-command.tsx'

/** The details of one computer, and what runs there. */
export function MachineScreen({ id }: { id: string }) {
  const machine = home.value.machines.get(id)
  if (!machine) return <Gone />
  const { metadata } = machine
  const state = stateOfMachine(machine, home.value)
  const sessions = sessionsOn(machine, home.value)
  const active = sessions.filter(session => session.isActive)
  return (
    <div class="screen">
      <Bar
        title={metadata ? (metadata.displayName ?? metadata.host) : words.machines.sealed}
        sub={
          <>
            <i class={`dot ${state === 'online' ? 'on' : ''}`} />
            {state === 'away' ? machineAwaySince(machine, now.value) : words.machines[state]}
          </>
        }
        back={pathOf({ name: 'machines' })}
        keepBack
      />
      <div class="scroll">
        <div class="col form">
          {state === 'away' && stoppedAt(machine) !== undefined && <p class="lead">{words.machine.stopped}</p>}
          {state === 'away' && <WhatToDo />}
          {!isStale.value && hasDaemon(machine) && metadata?.methods?.includes('processes') ? (
            <Processes machine={machine} active={active} />
          ) : (
            <Running sessions={active} />
          )}
          <Daemon machine={machine} running={active.length} />
          <Earlier sessions={sessions.filter(session => !session.isActive)} />
          <Facts machine={machine} isOnline={state === 'online'} />
          <Unlink machine={machine} />
        </div>
      </div>
    </div>
  )
}

function Running({ sessions }: { sessions: readonly SessionView[] }) {
  return (
    <section class="grp">
      <h2>{words.machine.running}</h2>
      {sessions.length === 0 ? <p class="lead">{words.machine.none}</p> : <SessionCard sessions={sessions} />}
    </section>
  )
}

function Earlier({ sessions }: { sessions: readonly SessionView[] }) {
  if (sessions.length === 0) return null
  return (
    <section class="grp">
      <h2>{words.machine.earlier}</h2>
      <SessionCard sessions={sessions.slice(0, 10)} />
    </section>
  )
}

function Facts({ machine: { metadata, createdAt, activeAt }, isOnline }: { machine: MachineView; isOnline: boolean }) {
  return (
    <section class="grp">
      <h2>{words.machine.facts}</h2>
      <dl class="facts">
        {metadata && <Fact name={words.machine.system} value={systemName(metadata.platform)} />}
        {metadata && <Fact name={words.machine.version} value={metadata.happyCliVersion} />}
        {metadata && <Fact name={words.machine.home} value={metadata.homeDir} isCode />}
        <Fact name={words.machine.linked} value={date(createdAt)} />
        {!isOnline && <Fact name={words.machine.seen} value={agoInWords(activeAt, now.value)} />}
      </dl>
    </section>
  )
}

function Fact({ name, value, isCode }: { name: string; value: string; isCode?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{isCode ? <code>{value}</code> : value}</dd>
    </div>
  )
}

function WhatToDo() {
  return (
    <section class="card">
      <h2 class="card-h">{words.machine.awayTitle}</h2>
      <p class="lead">
        <WithCommand sentence={words.machine.awayText} />
      </p>
    </section>
  )
}

function Gone() {
  return (
    <div class="screen">
      <Bar title={words.machines.title} back={pathOf({ name: 'machines' })} keepBack />
      <div class="scroll">
        <div class="col">
          <Empty title={words.machine.gone} text={words.machines.emptyText}>
            <LinkCommand />
            <ButtonLink look="quiet" href="/machines">
              {words.machines.title}
            </ButtonLink>
          </Empty>
        </div>
      </div>
    </div>
  )
}
