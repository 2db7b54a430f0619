import type { DeviceDb } from '../../core/device-db.ts'

/**
 * What the worker has to know of this device when no page is open. `isLocked`: nothing is opened and nothing is answered there. `mayAllow`: the person
 * lets a plain request be allowed in its notification.
 */
export interface RingingChoices {
  readonly isLocked: boolean
  readonly mayAllow: boolean
  readonly language: 'en' | 'zh'
}

const entry = 'ringing'

/** As long as nothing is known the device counts as locked. */
export const untold: RingingChoices = { isLocked: true, mayAllow: false, language: 'en' }

export async function readRingingChoices(db: Pick<DeviceDb, 'read'>): Promise<RingingChoices> {
  return choicesIn(await db.read(entry))
}

export async function changeRingingChoices(db: Pick<DeviceDb, 'change'>, change: Partial<RingingChoices>): Promise<void> {
  await db.change(entry, kept => ({ ...choicesIn(kept), ...change }))
}

// Only this file writes the entry, and it is sealed.
function choicesIn(kept: unknown): RingingChoices {
  return typeof kept === 'object' && kept !== null ? { ...untold, ...kept } : untold
}
