import { useState } from 'preact/hooks'
import { Icon, type IconName } from '../icons/icon.tsx'
import { Problem } from '../parts/banner.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { LinkCommand } from '../parts/link-command.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { closeLayer } from '../router.ts'
import { pathOf } from '../routes.ts'
import { live, noteDeviceName } from '../state/account.ts'
import { now } from '../state/clock.ts'
import { type Device, listDevices, renameDevice, unlinkDevice } from '../state/devices.ts'
import { stepUp } from '../state/lock.ts'
import { networkName } from '../state/network-name.ts'
import { words } from '../words/index.ts'
import { people as peopleWords } from '../words/people.ts'
import { settings } from '../words/settings.ts'
import { agoInWords, fullTime, moment } from '../words/time.ts'

/** Every sign-in of the account, this one first. */
export function DevicesPage() {
  return <Loaded read={listDevices} show={(devices, again) => <Devices devices={devices} again={again} />} />
}

function Devices({ devices, again }: { devices: readonly Device[]; again(): void }) {
  const [sheet, setSheet] = useState<{ about: Device; to: 'rename' | 'unlink' }>()
  const close = () => setSheet(undefined)
  return (
    <>
      <ul class="card tight">
        {devices.map(device => (
          <li key={device.id}>
            <DeviceRow device={device} onAsk={to => setSheet({ about: device, to })} />
          </li>
        ))}
      </ul>
      <AddDevice />
      {sheet?.to === 'unlink' && <UnlinkSheet device={sheet.about} onClose={close} onDone={again} />}
      {sheet?.to === 'rename' && <RenameSheet device={sheet.about} onClose={close} onDone={again} />}
    </>
  )
}

function AddDevice() {
  return (
    <section class="card form add-device">
      <h2 class="card-h">{words.devices.add}</h2>
      <div class="intro">
        <h3>{words.devices.addComputer}</h3>
        <p class="lead">{words.devices.addComputerText}</p>
      </div>
      <LinkCommand />
      <div class="intro">
        <h3>{words.devices.addDevice}</h3>
        <p class="lead">{words.devices.addDeviceText(location.origin)}</p>
      </div>
      <ButtonLink look="quiet" href="/scan" icon="scan-line" isWide>
        {words.home.scan}
      </ButtonLink>
    </section>
  )
}

function DeviceRow({ device, onAsk }: { device: Device; onAsk(to: 'rename' | 'unlink'): void }) {
  const name = nameOfDevice(device)
  const seen = device.current ? words.devices.this : words.devices.seen(agoInWords(device.lastUsedAt, now.value))
  return (
    <div class="irow device">
      <Icon name={icons[device.kind]} />
      <span>
        <b dir="auto">{name}</b>
        <small>{words.devices.kinds[device.kind]}</small>
        <small title={fullTime(device.lastUsedAt)}>{peopleWords.seenFrom(seen, networkName(device.lastUsedFrom) ?? '')}</small>
        <small title={fullTime(device.createdAt)}>{settings.deviceSince(moment(device.createdAt))}</small>
        {!device.renews && <small class="legacy">{peopleWords.legacy}</small>}
      </span>
      <span class="device-acts">
        <a class="ib" href={pathOf({ name: 'settings', page: 'devices', item: device.id })} aria-label={`${peopleWords.decided}: ${name}`}>
          <Icon name="list-todo" />
        </a>
        <button class="ib" type="button" onClick={() => onAsk('rename')} aria-label={`${peopleWords.rename} ${name}`}>
          <Icon name="pencil" />
        </button>
        {!device.current && (
          <button class="txt danger-t" type="button" onClick={() => onAsk('unlink')} aria-label={`${words.devices.unlink} ${name}`}>
            {words.devices.unlink}
          </button>
        )}
      </span>
    </div>
  )
}

function RenameSheet({ device, onClose, onDone }: { device: Device; onClose(): void; onDone(): void }) {
  const [name, setName] = useState(device.name)
  const [hasFailed, setFailed] = useState(false)
  const { isBusy, run } = useBusy()
  const save = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      try {
        const link = live.peek()
        if (!link) return setFailed(true)
        await renameDevice(link, device, name.trim())
        if (device.current) await noteDeviceName(name.trim())
        onDone()
        closeLayer()
      } catch {
        setFailed(true)
      }
    })
  }
  return (
    <Sheet title={peopleWords.renameTitle} onClose={onClose}>
      <form class="form" onSubmit={save}>
        <Field label={peopleWords.name} value={name} onInput={setName} hasFocus maxLength={100} />
        {hasFailed && <Problem title={peopleWords.notDone} text={words.devices.failedText} />}
        <Button look="primary" type="submit" isLarge isWide isOff={name.trim() === ''} busy={isBusy && peopleWords.saving}>
          {peopleWords.save}
        </Button>
      </form>
    </Sheet>
  )
}

function UnlinkSheet({ device, onClose, onDone }: { device: Device; onClose(): void; onDone(): void }) {
  const { isBusy, run } = useBusy()
  const [hasFailed, setFailed] = useState(false)
  const unlink = () =>
    run(async () => {
      if (!(await stepUp())) return setFailed(true)
      const link = live.peek()
      if (!link) return setFailed(true)
      try {
        await unlinkDevice(link, device)
        onDone()
        closeLayer()
      } catch {
        setFailed(true)
      }
    })
  return (
    <Sheet title={words.devices.unlinkTitle(nameOfDevice(device))} onClose={onClose}>
      <p class="lead">{device.kind === 'terminal' ? words.devices.unlinkTerminal : words.devices.unlinkDevice}</p>
      {hasFailed && <Problem title={words.devices.unlinkFailed} text={words.devices.failedText} />}
      <Button look="danger" isLarge isWide onClick={() => void unlink()} busy={isBusy && words.devices.unlinking}>
        {words.devices.unlink}
      </Button>
    </Sheet>
  )
}

export function nameOfDevice({ name, kind }: Device): string {
  return name === '' ? words.devices.unnamed[kind] : name
}

const icons: Record<Device['kind'], IconName> = { account: 'smartphone', terminal: 'laptop', device: 'tablet' }
