import { useState } from 'preact/hooks'
import { now } from '../core/clock.ts'
import { stepUp } from '../core/lock.ts'
import { networkName } from '../core/network-name.ts'
import { pathOf } from '../core/routes.ts'
import { LinkCommand } from '../machines/link-command.tsx'
import { live, noteDeviceName } from '../model/account/account.ts'
import { type Device, listDevices, renameDevice, unlinkDevice } from '../model/account/devices.ts'
import { Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { closeLayer } from '../ui/behavior/layers.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { Icon, type IconName } from '../ui/icons/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { homeWords } from '../words/home.ts'
import { people as peopleWords } from '../words/people.ts'
import { settings } from '../words/settings.ts'
import { agoInWords, fullTime, moment } from '../words/time.ts'
import { Loaded } from './loaded.tsx'

/** All sign-ins of the account, this one first. */
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
      <h2 class="card-h">{settings.devices.add}</h2>
      <div class="intro">
        <h3>{settings.devices.addComputer}</h3>
        <p class="lead">{settings.devices.addComputerText}</p>
      </div>
      <LinkCommand />
      <div class="intro">
        <h3>{settings.devices.addDevice}</h3>
        <p class="lead">{settings.devices.addDeviceText(location.origin)}</p>
      </div>
      <ButtonLink look="quiet" href="/scan" icon="scan-line" isWide>
        {homeWords.scan}
      </ButtonLink>
    </section>
  )
}

function DeviceRow({ device, onAsk }: { device: Device; onAsk(to: 'rename' | 'unlink'): void }) {
  const name = nameOfDevice(device)
  const seen = device.current ? settings.devices.this : settings.devices.seen(agoInWords(device.lastUsedAt, now.value))
  return (
    <div class="irow device">
      <Icon name={icons[device.kind]} />
      <span>
        <b dir="auto">{name}</b>
        <small>{settings.devices.kinds[device.kind]}</small>
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
          <button class="txt danger-t" type="button" onClick={() => onAsk('unlink')} aria-label={`${settings.devices.unlink} ${name}`}>
            {settings.devices.unlink}
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
        {hasFailed && <Problem title={peopleWords.notDone} text={settings.devices.failedText} />}
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
    <Sheet title={settings.devices.unlinkTitle(nameOfDevice(device))} onClose={onClose}>
      <p class="lead">{device.kind === 'terminal' ? settings.devices.unlinkTerminal : settings.devices.unlinkDevice}</p>
      {hasFailed && <Problem title={settings.devices.unlinkFailed} text={settings.devices.failedText} />}
      <Button look="danger" isLarge isWide onClick={() => void unlink()} busy={isBusy && settings.devices.unlinking}>
        {settings.devices.unlink}
      </Button>
    </Sheet>
  )
}

export function nameOfDevice({ name, kind }: Device): string {
  return name === '' ? settings.devices.unnamed[kind] : name
}

const icons: Record<Device['kind'], IconName> = { account: 'smartphone', terminal: 'laptop', device: 'tablet' }
