import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { Problem } from '../parts/banner.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { LinkRow } from '../parts/row.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { TroubleCard } from '../parts/trouble.tsx'
import { pathOf } from '../routes.ts'
import { live } from '../state/account.ts'
import { now } from '../state/clock.ts'
import { isStale } from '../state/connection.ts'
import { hasHelper, nameOfMachine } from '../state/machines.ts'
import { folderOf } from '../state/sessions.ts'
import { type Choices, type KnownChoices, readChoices, stopHelper } from '../state/starting.ts'
import type { MachineView } from '../state/store.ts'
import { start as words } from '../words/start.ts'
import { clockTime } from '../words/time.ts'
import { shortPath } from './folder-sheet.tsx'

/** What the helper of a machine has to offer, and the way to end it; where there is none, how to start one. */
export function Helper({ machine }: { machine: MachineView }) {
  // Without a link nobody knows.
  if (isStale.value) return null
  if (!hasHelper(machine)) return <NoHelper />
  return <Offers machine={machine} />
}

function NoHelper() {
  const [before, command, after] = words.awayText
  return (
    <section class="grp">
      <h2>{words.helper}</h2>
      <div class="card">
        <h3 class="card-h with-icon">
          <i class="dot" />
          {words.helperGone}
        </h3>
        <p class="lead">
          {before}
          <code>{command}</code>
          {after}
        </p>
      </div>
    </section>
  )
}

function Offers({ machine }: { machine: MachineView }) {
  const link = live.value
  const host = nameOfMachine(machine)
  const startedAt = machine.daemonState?.startedAt
  const [known, setKnown] = useState<KnownChoices>()
  const [isStopping, setStopping] = useState(false)
  useEffect(() => {
    if (!link) return
    let isGone = false
    void readChoices(link, machine.id).then(read => !isGone && setKnown(read))
    return () => {
      isGone = true
    }
  }, [link, machine.id, startedAt])
  const choices = known?.type === 'choices' ? known.choices : undefined
  return (
    <>
      <ButtonLink look="primary" icon="plus" isLarge isWide href={pathOf({ name: 'new', machine: machine.id })}>
        {words.startHere}
      </ButtonLink>
      {choices && choices.recentFolders.length > 0 && <Folders machine={machine} choices={choices} />}
      <section class="grp">
        <h2>{words.helper}</h2>
        <div class="card tight">
          <div class="irow">
            <i class="dot on" />
            <span>
              <b>{startedAt === undefined ? words.helperRuns : words.helperSince(clockTime(startedAt, now.value))}</b>
              {choices && (
                <small>
                  {words.agents}: {choices.agents.map(({ title }) => title).join(', ')}
                </small>
              )}
            </span>
            <button class="txt danger-t" type="button" onClick={() => setStopping(true)}>
              {words.stopHelper}
            </button>
          </div>
        </div>
      </section>
      {known?.type === 'failed' && <TroubleCard title={words.notAsked(host)} trouble={known} host={host} />}
      {isStopping && <StopSheet machine={machine} host={host} onClose={() => setStopping(false)} />}
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
            title={folderOf(folder)}
            text={shortPath(folder, choices.home)}
          />
        ))}
      </div>
    </section>
  )
}

const mostFolders = 5

function StopSheet({ machine, host, onClose }: { machine: MachineView; host: string; onClose(): void }) {
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const [before, command, after] = words.stopText
  const stop = () =>
    run(async () => {
      const link = live.peek()
      if (link && (await stopHelper(link, machine.id))) history.back()
      else setFailed(true)
    })
  return (
    <Sheet title={words.stopTitle(host)} onClose={onClose}>
      <p class="lead">
        {before}
        <code>{command}</code>
        {after}
      </p>
      {hasFailed && <Problem title={words.stopFailed(host)} text={words.stopFailedText} />}
      <Button look="danger" isLarge isWide onClick={() => void stop()} busy={isBusy && words.stopping}>
        <Icon name="square" />
        {words.stopHelper}
      </Button>
    </Sheet>
  )
}
