import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { Problem } from '../parts/banner.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { goFromLayer } from '../router.ts'
import { live } from '../state/account.ts'
import { now } from '../state/clock.ts'
import { isStale } from '../state/connection.ts'
import type { Device } from '../state/devices.ts'
import { stepUp } from '../state/lock.ts'
import { nameOfMachine } from '../state/machines.ts'
import { networkName } from '../state/network-name.ts'
import type { MachineView } from '../state/store.ts'
import { signInsOf, unlinkMachine } from '../state/unlinking-machine.ts'
import { machine as words } from '../words/machine.ts'
import { agoInWords } from '../words/time.ts'

/** The way to end what a machine may do. */
export function Unlink({ machine }: { machine: MachineView }) {
  const [isAsked, ask] = useState(false)
  return (
    <section class="grp">
      <div class="card tight">
        <button class="irow dng" type="button" aria-haspopup="dialog" disabled={isStale.value} onClick={() => ask(true)}>
          <Icon name="log-out" />
          <span>
            <b>{words.unlink}</b>
          </span>
        </button>
      </div>
      <p class="hint">{words.unlinkText}</p>
      {isAsked && <UnlinkSheet machine={machine} onClose={() => ask(false)} />}
    </section>
  )
}

type Known = { type: 'looking' } | { type: 'failed' } | { type: 'known'; signIns: readonly Device[] }

function UnlinkSheet({ machine, onClose }: { machine: MachineView; onClose(): void }) {
  const host = nameOfMachine(machine)
  const [known, setKnown] = useState<Known>({ type: 'looking' })
  const [chosen, choose] = useState<Device>()
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  useEffect(() => {
    const link = live.peek()
    if (!link) return setKnown({ type: 'failed' })
    signInsOf(link, machine).then(
      signIns => {
        setKnown({ type: 'known', signIns })
        if (signIns.length === 1) choose(signIns[0])
      },
      () => setKnown({ type: 'failed' })
    )
  }, [machine.id])
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
  const signIns = known.type === 'known' ? known.signIns : []
  return (
    <Sheet title={words.unlinkTitle(host)} onClose={onClose}>
      {known.type === 'looking' && <p role="status">{words.unlinkLooking}</p>}
      {known.type === 'known' && <p class="lead">{signIns.length === 0 ? words.unlinkNone(host) : words.unlinkText}</p>}
      {signIns.length > 1 && (
        <fieldset class="grp">
          <legend class="vh">{words.unlinkWhich}</legend>
          <h2>{words.unlinkWhich}</h2>
          <div class="card tight">
            {signIns.map(device => (
              <Choice
                key={device.id}
                name="sign-in"
                title={device.name}
                text={words.signInSeen(agoInWords(device.lastUsedAt, now.value), networkName(device.lastUsedFrom) ?? '')}
                isChosen={device.id === chosen?.id}
                onChoose={() => choose(device)}
              />
            ))}
          </div>
        </fieldset>
      )}
      {(hasFailed || known.type === 'failed') && <Problem title={words.unlinkFailed} text={words.unlinkFailedText} />}
      <Button
        look="danger"
        isLarge
        isWide
        isOff={known.type !== 'known' || (signIns.length > 0 && chosen === undefined)}
        onClick={() => void unlink()}
        busy={isBusy && words.unlinking}
      >
        {words.unlink}
      </Button>
    </Sheet>
  )
}
