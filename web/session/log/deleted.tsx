import { useEffect, useState } from 'preact/hooks'
import { live } from '../../model/account/account.ts'
import { listDevices } from '../../model/account/devices.ts'
import { removals } from '../../model/account/removals.ts'
import { session as words } from '../../words/session.ts'
import { clockTime } from '../../words/time.ts'
import { SessionEmpty } from './empty.tsx'

/** In place of a deleted session: when it was deleted and on which device, if known. */
export function Deleted({ id }: { id: string }) {
  const { at, by } = removals.value.get(id) ?? {}
  const device = useDeviceName(by)
  const time = at === undefined ? undefined : clockTime(at, Date.now())
  const title = time === undefined ? words.deletedTitle : device === undefined ? words.deletedAt(time) : words.deletedOn(device, time)
  return <SessionEmpty title={title} text={words.deletedHint} />
}

function useDeviceName(id: string | undefined): string | undefined {
  const [name, setName] = useState<string>()
  useEffect(() => {
    const link = live.peek()
    if (id === undefined || link === undefined) return
    // Without the device's name only the time is shown.
    void listDevices(link)
      .then(devices => setName(devices.find(device => device.id === id)?.name))
      .catch(() => {})
  }, [id])
  return name
}
