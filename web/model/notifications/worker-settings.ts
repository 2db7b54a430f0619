import type { DeviceDb } from '../../core/device-db.ts'

/**
 * The device settings that the worker needs while no page is open. `isLocked`: nothing can be decrypted or answered there. `mayAllow`: the person
 * permits allowing a plain request in its notification.
 */
export interface WorkerSettings {
  readonly isLocked: boolean
  readonly mayAllow: boolean
  readonly language: 'en' | 'zh'
}

const entry = 'ringing'

/** Until they are stored the device counts as locked. */
export const defaultSettings: WorkerSettings = { isLocked: true, mayAllow: false, language: 'en' }

export async function readWorkerSettings(db: Pick<DeviceDb, 'read'>): Promise<WorkerSettings> {
  return choicesIn(await db.read(entry))
}

export async function changeWorkerSettings(db: Pick<DeviceDb, 'change'>, change: Partial<WorkerSettings>): Promise<void> {
  await db.change(entry, kept => ({ ...choicesIn(kept), ...change }))
}

// Only this file writes the entry, and it is sealed.
function choicesIn(kept: unknown): WorkerSettings {
  return typeof kept === 'object' && kept !== null ? { ...defaultSettings, ...kept } : defaultSettings
}
