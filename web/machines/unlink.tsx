import { useState } from 'preact/hooks'
import { machineId } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { now } from '../core/clock.ts'
import { isStale } from '../core/connection.ts'
import { stepUp } from '../core/lock.ts'
import { networkName } from '../core/network-name.ts'
import { goFromLayer } from '../core/router.ts'
import { live } from '../model/account/account.ts'
import { type Device, listDevices, unlinkDevice } from '../model/account/devices.ts'
import type { Live } from '../model/account/live.ts'
import { nameOfMachine } from '../model/machines.ts'
import type { MachineView } from '../model/store.ts'
import { Problem } from '../ui/banner.tsx'
import { useAnswer } from '../ui/behavior/answer.ts'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button } from '../ui/button.tsx'
import { Choice } from '../ui/choice.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { words } from '../words/index.ts'
import { machine as machineWords } from '../words/machine.ts'
import { agoInWords } from '../words/time.ts'

/** Revokes the access of a machine. */
export function Unlink({ machine }: { machine: MachineView }) {
  const [isAsked, ask] = useState(false)
  return (
    <section class="grp">
      <div class="card tight">
        <button class="irow dng" type="button" aria-haspopup="dialog" disabled={isStale.value} onClick={() => ask(true)}>
          <Icon name="log-out" />
          <span>
            <b>{machineWords.unlink}</b>
          </span>
        </button>
      </div>
      <p class="hint">{machineWords.unlinkText}</p>
      {isAsked && <UnlinkSheet machine={machine} onClose={() => ask(false)} />}
    </section>
  )
}

function UnlinkSheet({ machine, onClose }: { machine: MachineView; onClose(): void }) {
  const host = nameOfMachine(machine)
  const link = live.value
  const [attempt, setAttempt] = useState(0)
  const { value: signIns, error } = useAnswer(link && (() => signInsOf(link, machine)), [link, machine.id, attempt])
  const [picked, choose] = useState<Device>()
  const chosen = signIns?.length === 1 ? signIns[0] : picked
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const isUnknown = signIns === undefined && (!link || error !== undefined)
  const unlink = () =>
    run(async () => {
      setFailed(false)
      const link = live.peek()
      if (!link || !(await stepUp())) return setFailed(true)
      try {
        await unlinkMachine(link, machine, chosen)
        goFromLayer({ name: 'machines' })
      } catch {
        setFailed(true)
      }
    })
  return (
    <Sheet title={machineWords.unlinkTitle(host)} onClose={onClose}>
      {signIns === undefined && !isUnknown && <p role="status">{machineWords.unlinkLooking}</p>}
      {signIns && <p class="lead">{signIns.length === 0 ? machineWords.unlinkNone(host) : machineWords.unlinkText}</p>}
      {signIns && signIns.length > 1 && (
        <fieldset class="grp">
          <legend class="vh">{machineWords.unlinkWhich}</legend>
          <h2>{machineWords.unlinkWhich}</h2>
          <div class="card tight">
            {signIns.map(device => (
              <Choice
                key={device.id}
                name="sign-in"
                title={device.name}
                text={machineWords.signInSeen(agoInWords(device.lastUsedAt, now.value), networkName(device.lastUsedFrom) ?? '')}
                isChosen={device.id === chosen?.id}
                onChoose={() => choose(device)}
              />
            ))}
          </div>
        </fieldset>
      )}
      {(hasFailed || isUnknown) && <Problem title={machineWords.unlinkFailed} text={machineWords.unlinkFailedText} />}
      {isUnknown ? (
        <Button look="quiet" isLarge isWide onClick={() => setAttempt(attempt + 1)}>
          {words.tryAgain}
        </Button>
      ) : (
        <Button
          look="danger"
          isLarge
          isWide
          isOff={signIns === undefined || (signIns.length > 0 && chosen === undefined)}
          onClick={() => void unlink()}
          busy={isBusy && machineWords.unlinking}
        >
          {machineWords.unlink}
        </Button>
      )}
    </Sheet>
  )
}

/** The sign-ins that may belong to the machine: those of programs with its name, otherwise all of programs. */
async function signInsOf(link: Pick<Live, 'rest'>, { metadata }: MachineView): Promise<Device[]> {
  const programs = (await listDevices(link)).filter(({ kind, current }) => kind === 'terminal' && !current)
  const named = programs.filter(({ name }) => name === metadata?.host)
  return named.length > 0 ? named : programs
}

/** Ends its sign-in first: a machine that is still signed in would register again. */
async function unlinkMachine(link: Pick<Live, 'rest' | 'feed'>, { id }: MachineView, signIn: Device | undefined): Promise<void> {
  if (signIn) await unlinkDevice(link, signIn)
  await link.rest.call('removeMachine', { params: { id: v.parse(machineId, id) } })
  // The server does not notify a device of its own changes.
  link.feed.refresh()
}
