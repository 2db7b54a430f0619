import { useEffect, useState } from 'preact/hooks'
import { Icon, type IconName } from '../icons/icon.tsx'
import { Problem } from '../parts/banner.tsx'
import { useBusy } from '../parts/busy.ts'
import { Button } from '../parts/button.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { live } from '../state/account.ts'
import { now } from '../state/clock.ts'
import type { Device } from '../state/devices.ts'
import { words } from '../words/index.ts'
import { agoInWords, fullTime } from '../words/time.ts'

type List = { type: 'loading' } | { type: 'failed' } | { type: 'here'; devices: readonly Device[] }

/** Every sign-in of the account, this one first. */
export function DevicesPage() {
  const link = live.value
  const [list, setList] = useState<List>({ type: 'loading' })
  const [attempt, setAttempt] = useState(0)
  const [leaving, setLeaving] = useState<Device>()

  useEffect(() => {
    if (!link) return
    let isGone = false
    const load = async () => {
      const { listDevices } = await import('../state/devices.ts')
      const devices = await listDevices(link)
      if (!isGone) setList({ type: 'here', devices })
    }
    load().catch(() => !isGone && setList({ type: 'failed' }))
    return () => {
      isGone = true
    }
  }, [link, attempt])

  if (list.type === 'loading')
    return (
      <p class="lead" role="status">
        {words.devices.loading}
      </p>
    )
  if (list.type === 'failed') {
    return (
      <>
        <Problem title={words.devices.failed} text={words.devices.failedText} />
        <Button look="quiet" onClick={() => setAttempt(attempt + 1)}>
          {words.tryAgain}
        </Button>
      </>
    )
  }
  return (
    <>
      <ul class="card tight">
        {list.devices.map(device => (
          <li key={device.id}>
            <DeviceRow device={device} onUnlink={() => setLeaving(device)} />
          </li>
        ))}
      </ul>
      {leaving && <UnlinkSheet device={leaving} onClose={() => setLeaving(undefined)} onDone={() => setAttempt(attempt + 1)} />}
    </>
  )
}

function DeviceRow({ device, onUnlink }: { device: Device; onUnlink(): void }) {
  return (
    <div class="irow">
      <Icon name={icons[device.kind]} />
      <span>
        <b dir="auto">{nameOf(device)}</b>
        <small>{words.devices.kinds[device.kind]}</small>
        <small title={fullTime(device.lastUsedAt)}>
          {device.current ? words.devices.this : words.devices.seen(agoInWords(device.lastUsedAt, now.value))}
        </small>
      </span>
      {!device.current && (
        <button class="txt danger-t" type="button" onClick={onUnlink} aria-label={`${words.devices.unlink} ${nameOf(device)}`}>
          {words.devices.unlink}
        </button>
      )}
    </div>
  )
}

function UnlinkSheet({ device, onClose, onDone }: { device: Device; onClose(): void; onDone(): void }) {
  const { isBusy, run } = useBusy()
  const [hasFailed, setFailed] = useState(false)
  const unlink = () =>
    run(async () => {
      const link = live.peek()
      if (!link) return setFailed(true)
      try {
        const { unlinkDevice } = await import('../state/devices.ts')
        await unlinkDevice(link, device)
        onDone()
        history.back()
      } catch {
        setFailed(true)
      }
    })
  return (
    <Sheet title={words.devices.unlinkTitle(nameOf(device))} onClose={onClose}>
      <p class="lead">{device.kind === 'terminal' ? words.devices.unlinkTerminal : words.devices.unlinkDevice}</p>
      {hasFailed && <Problem title={words.devices.unlinkFailed} text={words.devices.failedText} />}
      <Button look="danger" isLarge isWide onClick={() => void unlink()} busy={isBusy && words.devices.unlinking}>
        {words.devices.unlink}
      </Button>
    </Sheet>
  )
}

function nameOf({ name, kind }: Device): string {
  return name === '' ? words.devices.unnamed[kind] : name
}

const icons: Record<Device['kind'], IconName> = { account: 'smartphone', terminal: 'laptop', device: 'tablet' }
