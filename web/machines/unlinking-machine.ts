import { machineId } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { type Device, listDevices, unlinkDevice } from '../model/account/devices.ts'
import type { Live } from '../model/account/live.ts'
import type { MachineView } from '../model/store.ts'

/** The sign-ins that may belong to the machine: those of programs with its name, otherwise all of programs. */
export async function signInsOf(link: Pick<Live, 'rest'>, { metadata }: MachineView): Promise<Device[]> {
  const programs = (await listDevices(link)).filter(({ kind, current }) => kind === 'terminal' && !current)
  const named = programs.filter(({ name }) => name === metadata?.host)
  return named.length > 0 ? named : programs
}

/** Ends its sign-in first: a machine that is still signed in would register again. */
export async function unlinkMachine(link: Pick<Live, 'rest' | 'feed'>, { id }: MachineView, signIn: Device | undefined): Promise<void> {
  if (signIn) await unlinkDevice(link, signIn)
  await link.rest.call('removeMachine', { params: { id: v.parse(machineId, id) } })
  // The server does not notify a device of its own changes.
  link.feed.refresh()
}
