import { machineId } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { type Device, listDevices, unlinkDevice } from '../model/account/devices.ts'
import type { Live } from '../model/account/live.ts'
import type { MachineView } from '../model/store.ts'

/** What the machine may be signed in as: sign-ins of programs under its name, else all of programs. */
export async function signInsOf(link: Pick<Live, 'rest'>, { metadata }: MachineView): Promise<Device[]> {
  const programs = (await listDevices(link)).filter(({ kind, current }) => kind === 'terminal' && !current)
  const named = programs.filter(({ name }) => name === metadata?.host)
  return named.length > 0 ? named : programs
}

/** Ends its sign-in first: a machine that still has one would only come back. */
export async function unlinkMachine(link: Pick<Live, 'rest' | 'feed'>, { id }: MachineView, signIn: Device | undefined): Promise<void> {
  if (signIn) await unlinkDevice(link, signIn)
  await link.rest.call('removeMachine', { params: { id: v.parse(machineId, id) } })
  // The server sends nobody what they did themselves.
  link.feed.refresh()
}
