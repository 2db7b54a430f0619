import type { DecisionEntry } from '../../../lib/protocol/sealed/decisions/rules.ts'
import { deviceId } from '../../../lib/protocol/wire/ids.ts'
import type { ReplyOf } from '../../../lib/protocol/wire/routes.ts'
import * as v from '../../../lib/schema.ts'
import type { MachineView } from '../store.ts'
import type { Live } from './live.ts'
import { askMachine, type MachineLink } from './machine-call.ts'

/** A device signed in to this account: a browser, or the wrapper on a machine. */
export type Device = ReplyOf<'listDevices'>['devices'][number]

/** The id by which the calling device can end its own sign-in. */
export const currentDevice = v.parse(deviceId, 'current')

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

/** Decisions made on a device, as one machine recorded them. */
export interface DecidedOn {
  readonly machine: string
  /** `away`: it did not answer. `unsupported`: its daemon records none. */
  readonly entries: readonly DecisionEntry[] | 'away' | 'unsupported'
}

export async function decidedOn(link: MachineLink, machines: readonly MachineView[], device: string): Promise<DecidedOn[]> {
  return Promise.all(
    machines.map(async ({ id, metadata }) => {
      if (!metadata?.methods?.includes('decisions')) return { machine: id, entries: 'unsupported' as const }
      const answer = await askMachine(link, id, 'decisions', { device })
      return { machine: id, entries: answer.type === 'answered' ? answer.result.entries : ('away' as const) }
    })
  )
}
