import { live } from '../../model/account/account.ts'
import { listDevices } from '../../model/account/devices.ts'
import { removals } from '../../model/account/removals.ts'
import { useAnswer } from '../../ui/behavior/answer.ts'
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
  const link = live.peek()
  // Without the device's name only the time is shown.
  const { value: devices } = useAnswer(id !== undefined && link && (() => listDevices(link)), [id])
  return devices?.find(device => device.id === id)?.name
}
