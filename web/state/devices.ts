import { deviceId } from '../../lib/protocol/wire/ids.ts'
import type { ReplyOf } from '../../lib/protocol/wire/routes.ts'
import type { Live } from './live.ts'

/** One device that is signed in to this account: a browser, or the wrapper on a machine. */
export type Device = ReplyOf<'listDevices'>['devices'][number]

/** The name by which the device that asks can end its own sign-in. */
export const currentDevice = deviceId.parse('current')

export async function listDevices({ rest }: Pick<Live, 'rest'>): Promise<Device[]> {
  const { devices } = await rest.call('listDevices', {})
  return devices.toSorted((a, b) => Number(b.current) - Number(a.current) || b.lastUsedAt - a.lastUsedAt)
}

export async function renameDevice({ rest }: Pick<Live, 'rest'>, device: Device, name: string): Promise<void> {
  await rest.call('renameDevice', { params: { id: device.id }, body: { name } })
}

export async function unlinkDevice({ rest }: Pick<Live, 'rest'>, device: Device): Promise<void> {
  await rest.call('removeDevice', { params: { id: device.id } })
}
