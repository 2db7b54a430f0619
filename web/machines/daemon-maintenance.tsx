import { useState } from 'preact/hooks'
import { now } from '../core/clock.ts'
import { live } from '../model/account/account.ts'
import { askMachine, type Trouble } from '../model/account/machine-call.ts'
import { isOurs, nameOfMachine } from '../model/machines.ts'
import { stopDaemon } from '../model/start-and-stop.ts'
import type { MachineView } from '../model/store.ts'
import { useMachineAnswer } from '../session/machine/machine-answer.ts'
import { TroubleCard } from '../session/machine/trouble.tsx'
import { Problem } from '../ui/banner.tsx'
import { useAfter } from '../ui/behavior/after.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button } from '../ui/button.tsx'
import { Switch } from '../ui/choice.tsx'
import { copy } from '../ui/copy.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { toast } from '../ui/toast.ts'
import { machine as words } from '../words/machine.ts'
import { start } from '../words/start.ts'
import { clockTime } from '../words/time.ts'
import { WithCommand } from './with-command.tsx'

/** Maintenance of a machine's daemon, as far as its metadata lists the methods. */
export function DaemonMaintenance({ machine, onRestart }: { machine: MachineView; onRestart(): void }) {
  const host = nameOfMachine(machine)
  const startedAt = machine.daemonState?.startedAt
  const can = (method: string) => machine.metadata?.methods?.includes(method) ?? false
  const [sheet, setSheet] = useState<'stop' | 'log' | 'update'>()
  const [trouble, setTrouble] = useState<Trouble>()
  const { isBusy, run } = useBusy()
  const restart = () =>
    run(async () => {
      setTrouble(undefined)
      const answer = await askMachine(live.peek(), machine.id, 'restart', {})
      if (answer.type === 'failed') return setTrouble(answer)
      onRestart()
    })
  const close = () => setSheet(undefined)
  return (
    <section class="grp">
      <h2>{start.daemon}</h2>
      <div class="card tight">
        <div class="irow">
          <i class="dot on" />
          <span>
            <b>{startedAt === undefined ? start.daemonRuns : start.daemonSince(clockTime(startedAt, now.value))}</b>
          </span>
          <button class="txt danger-t" type="button" onClick={() => setSheet('stop')}>
            {start.stopDaemon}
          </button>
        </div>
        {can('restart') && (
          <button class="irow" type="button" disabled={isBusy} onClick={() => void restart()}>
            <Icon name="rotate-cw" />
            <span>
              <b>{words.restart}</b>
              <small>{words.restartText}</small>
            </span>
          </button>
        )}
        {can('update') && <SheetRow icon="refresh-cw" title={words.update} text={words.updateText} onOpen={() => setSheet('update')} />}
        {can('log') && <SheetRow icon="file-text" title={words.log} text={words.logText} onOpen={() => setSheet('log')} />}
        {can('keep-awake') && <Awake machine={machine} />}
      </div>
      {trouble && <TroubleCard title={words.notTold(host)} trouble={trouble} host={host} />}
      {sheet === 'stop' && <StopSheet machine={machine} host={host} onClose={close} />}
      {sheet === 'log' && <LogSheet machine={machine} host={host} onClose={close} />}
      {sheet === 'update' && <UpdateSheet machine={machine} host={host} onRestart={() => void restart()} onClose={close} />}
    </section>
  )
}

function SheetRow(props: { icon: 'refresh-cw' | 'file-text'; title: string; text: string; onOpen(): void }) {
  return (
    <button class="irow" type="button" aria-haspopup="dialog" onClick={props.onOpen}>
      <Icon name={props.icon} />
      <span>
        <b>{props.title}</b>
        <small>{props.text}</small>
      </span>
      <Icon name="chevron-right" class="chev" />
    </button>
  )
}

function Awake({ machine }: { machine: MachineView }) {
  const { answer } = useMachineAnswer(machine.id, 'keep-awake', {})
  const [chosen, choose] = useState<boolean>()
  const { run } = useBusy()
  if (answer?.type !== 'answered') return null
  const { canDo } = answer.result
  const isOn = chosen ?? answer.result.on
  const flip = () =>
    run(async () => {
      choose(!isOn)
      const answer = await askMachine(live.peek(), machine.id, 'keep-awake', { on: !isOn })
      choose(answer.type === 'answered' ? answer.result.on : isOn)
      if (answer.type === 'failed') toast(words.notTold(nameOfMachine(machine)))
    })
  if (!canDo) {
    return (
      <div class="irow">
        <span>
          <b>{words.awake}</b>
          <small>{words.awakeCannot}</small>
        </span>
      </div>
    )
  }
  return <Switch title={words.awake} text={words.awakeText} isOn={isOn} onFlip={() => void flip()} />
}

/** Shown while the daemon restarts; says so if it does not come back. */
export function Restarting() {
  const isLate = useAfter(lateAfterMs)
  return (
    <section class="grp">
      <h2>{start.daemon}</h2>
      <div class="card" role="status">
        <h3 class="card-h with-icon">
          <Icon name="rotate-cw" class={isLate ? '' : 'spin'} />
          {isLate ? words.notRestarted : words.restarting}
        </h3>
        {isLate && (
          <p class="lead">
            <WithCommand sentence={words.notRestartedText} />
          </p>
        )}
      </div>
    </section>
  )
}

const lateAfterMs = 30_000

type SheetProps = { machine: MachineView; host: string; onClose(): void }

function LogSheet({ machine, host, onClose }: SheetProps) {
  const { answer, again } = useMachineAnswer(machine.id, 'log', {})
  const lines = answer?.type === 'answered' ? answer.result.lines : []
  return (
    <Sheet title={words.log} onClose={onClose}>
      {answer === undefined && <p role="status">{words.reading}</p>}
      {answer?.type === 'failed' && <TroubleCard title={words.notTold(host)} trouble={answer} host={host} />}
      {answer?.type === 'answered' &&
        (lines.length === 0 ? (
          <p class="lead">{words.logEmpty}</p>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
          <pre class="machine-log" tabIndex={0} dir="ltr">
            {lines.join('\n')}
          </pre>
        ))}
      <div class="acts">
        <Button look="quiet" isLarge icon="rotate-cw" onClick={again}>
          {words.again}
        </Button>
        <Button look="quiet" isLarge icon="copy" isOff={lines.length === 0} onClick={() => void copy(lines.join('\n'))}>
          {words.logCopy}
        </Button>
      </div>
    </Sheet>
  )
}

function UpdateSheet({ machine, host, onRestart, onClose }: SheetProps & { onRestart(): void }) {
  const { answer } = useMachineAnswer(machine.id, 'update', {})
  if (answer?.type !== 'answered') {
    return (
      <Sheet title={words.update} onClose={onClose}>
        {answer === undefined ? (
          <p role="status">{words.reading}</p>
        ) : (
          <TroubleCard title={words.notTold(host)} trouble={answer} host={host} />
        )}
      </Sheet>
    )
  }
  const { version, isReady, command, installed, message } = answer.result
  return (
    <Sheet title={words.update} onClose={onClose}>
      <p class="hint">{words.updateNow(version)}</p>
      {isReady ? (
        <p class="lead">{words.updateReady}</p>
      ) : (
        <ol class="steps-to-do">
          <li>
            {command !== undefined ? (
              <>
                <p>{words.updateBy(host)}</p>
                <div class="card tight">
                  <TypedCommand text={command} />
                </div>
              </>
            ) : installed === 'binary' ? (
              <p>
                <WithCommand sentence={words.updateBinaryText} />
              </p>
            ) : (
              <p>{message}</p>
            )}
          </li>
          <li>
            <p>{words.updateRestart}</p>
          </li>
        </ol>
      )}
      <Button
        look={isReady ? 'primary' : 'quiet'}
        isLarge
        isWide
        icon="rotate-cw"
        onClick={() => {
          closeLayer()
          onRestart()
        }}
      >
        {words.restartDaemon}
      </Button>
      <p class="hint">{words.updateAfter}</p>
    </Sheet>
  )
}

/** A command to type on the machine. */
export function TypedCommand({ text }: { text: string }) {
  return (
    <div class="irow command">
      <span>
        <code>{text}</code>
      </span>
      <CopyButton text={text} what={text} />
    </div>
  )
}

function StopSheet({ machine, host, onClose }: SheetProps) {
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const [before, ours, after] = start.stopText
  const command = isOurs(machine) ? ours : 'happy daemon start'
  const stop = () =>
    run(async () => {
      const link = live.peek()
      if (link && (await stopDaemon(link, machine.id))) closeLayer()
      else setFailed(true)
    })
  return (
    <Sheet title={start.stopTitle(host)} onClose={onClose}>
      <p class="lead">
        <WithCommand sentence={[before, command, after]} />
      </p>
      {hasFailed && <Problem title={start.stopFailed(host)} text={start.stopFailedText} />}
      <Button look="danger" isLarge isWide onClick={() => void stop()} busy={isBusy && start.stopping}>
        {start.stopDaemon}
      </Button>
    </Sheet>
  )
}
