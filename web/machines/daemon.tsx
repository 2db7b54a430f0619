import { useState } from 'preact/hooks'
import { isStale } from '../core/connection.ts'
import { pathOf } from '../core/routes.ts'
import { live } from '../model/account/account.ts'
import { type Choices, readChoices } from '../model/machine-choices.ts'
import { hasDaemon, nameOfMachine } from '../model/machines.ts'
import { shortPath } from '../model/paths.ts'
import { folderName } from '../model/sessions.ts'
import type { MachineView } from '../model/store.ts'
import { TroubleCard } from '../session/machine/trouble.tsx'
import { LinkRow } from '../session/row/row.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { machine as machineWords } from '../words/machine.ts'
import { start as words } from '../words/start.ts'
import { Copies } from './copies.tsx'
import { DaemonMaintenance, Restarting, TypedCommand } from './daemon-maintenance.tsx'
import { WithCommand } from './with-command.tsx'

/** The daemon of a machine: what it offers and how to maintain it; if there is none, how to start it. */
export function Daemon({ machine, running }: { machine: MachineView; running: number }) {
  const startedAt = machine.daemonState?.startedAt
  const [restartedFrom, setRestartedFrom] = useState<number>()
  // Unknown without a link.
  if (isStale.value) return null
  const isThere = hasDaemon(machine)
  if (restartedFrom !== undefined && (restartedFrom === startedAt || !isThere)) return <Restarting />
  if (!isThere) return <NoDaemon />
  return <Offers machine={machine} running={running} onRestart={() => setRestartedFrom(startedAt)} />
}

function NoDaemon() {
  return (
    <section class="grp">
      <h2>{words.daemon}</h2>
      <div class="card">
        <h3 class="card-h with-icon">
          <i class="dot" />
          {words.daemonGone}
        </h3>
        <p class="lead">
          <WithCommand sentence={words.awayText} />
        </p>
      </div>
    </section>
  )
}

function Offers({ machine, running, onRestart }: { machine: MachineView; running: number; onRestart(): void }) {
  const link = live.value
  const host = nameOfMachine(machine)
  const startedAt = machine.daemonState?.startedAt
  const { last: known } = useAnswer(link && (() => readChoices(link, machine.id)), [link, machine.id, startedAt])
  const choices = known?.type === 'choices' ? known.choices : undefined
  return (
    <>
      <ButtonLink look="primary" icon="plus" isLarge isWide href={pathOf({ name: 'new', machine: machine.id })}>
        {words.startHere}
      </ButtonLink>
      {known?.type === 'failed' && <TroubleCard title={words.notAsked(host)} trouble={known} host={host} />}
      {choices && choices.recentFolders.length > 0 && <Folders machine={machine} choices={choices} />}
      {machine.metadata?.methods?.includes('worktrees') && <Copies machine={machine} running={running} />}
      {choices && <Agents choices={choices} />}
      <DaemonMaintenance machine={machine} onRestart={onRestart} />
      {choices?.allowedFolders && <Allowed folders={choices.allowedFolders} home={choices.home} />}
    </>
  )
}

function Folders({ machine, choices }: { machine: MachineView; choices: Choices }) {
  return (
    <section class="grp">
      <h2>{words.folders}</h2>
      <div class="card tight">
        {choices.recentFolders.slice(0, mostFolders).map(folder => (
          <LinkRow
            key={folder}
            href={pathOf({ name: 'new', machine: machine.id, folder })}
            icon="folder"
            title={folderName(folder)}
            text={shortPath(folder, choices.home)}
          />
        ))}
      </div>
    </section>
  )
}

const mostFolders = 5

function Agents({ choices: { agents, missingAgents = [] } }: { choices: Choices }) {
  return (
    <section class="grp">
      <h2>{machineWords.agents}</h2>
      {agents.length === 0 && <p class="lead">{machineWords.noAgents}</p>}
      <div class="card tight">
        {agents.map(({ agent, title, version, tested, isSignedIn, signIn }) => (
          <div key={agent}>
            <div class="irow">
              <Icon name="square-terminal" />
              <span>
                <b dir="auto">{title}</b>
                {version !== undefined && <small>{machineWords.version[tested ?? 'unknown'](version)}</small>}
              </span>
              {isSignedIn !== undefined && (
                <small class={isSignedIn ? 'state-t' : 'state-t danger-t'}>
                  {isSignedIn ? machineWords.signedIn : machineWords.signedOut}
                </small>
              )}
            </div>
            {isSignedIn === false && signIn !== undefined && <TypedCommand text={signIn} />}
          </div>
        ))}
        {missingAgents.length > 0 && (
          <details class="missing">
            <summary class="irow">
              <Icon name="circle-dashed" />
              <span>
                <b>{machineWords.notHere}</b>
                <small dir="auto">{missingAgents.map(({ title }) => title).join(', ')}</small>
              </span>
              <Icon name="chevron-down" class="chev" />
            </summary>
            {missingAgents.map(({ agent, title, install }) => (
              <div key={agent}>
                <div class="irow">
                  <span>
                    <b dir="auto">{title}</b>
                    <small>{machineWords.installWith}</small>
                  </span>
                </div>
                <TypedCommand text={install} />
              </div>
            ))}
          </details>
        )}
      </div>
    </section>
  )
}

function Allowed({ folders, home }: { folders: readonly string[]; home: string }) {
  return (
    <section class="grp">
      <h2>{machineWords.allowed}</h2>
      {folders.length === 0 ? (
        <p class="lead">{machineWords.noAllowed}</p>
      ) : (
        <ul class="card tight">
          {folders.map(folder => (
            <li key={folder} class="irow">
              <Icon name="folder-lock" />
              <span>
                <code dir="ltr">{shortPath(folder, home)}</code>
              </span>
            </li>
          ))}
        </ul>
      )}
      <p class="hint">
        <WithCommand sentence={machineWords.allowedHint} />
      </p>
    </section>
  )
}
