import { createRest, cryptoReady, keepToken, type Rest } from '../../../lib/client/index.ts'
import { bytesOf } from '../../core/base64.ts'
import { type DeviceDb, deviceDb } from '../../core/device-db.ts'
import { tellTabs } from '../../core/tabs.ts'
import { entry, isSignedIn, keptTokens, type SignIn } from '../../model/account/stored-account.ts'
import { defaultSettings, readWorkerSettings, type WorkerSettings } from '../../model/notifications/worker-settings.ts'

/** The account as the worker can use it, without any page. */
export interface WorkerDevice {
  readonly db: DeviceDb
  readonly rest: Rest
  /** The name of this device. */
  readonly name: string
  /** The account key. It is not read while app lock is on. */
  secret(): Uint8Array
}

/** The device data, if it could be read. */
export interface Known {
  readonly device: WorkerDevice | undefined
  readonly choices: WorkerSettings
}

export const nothingKnown: Known = { device: undefined, choices: defaultSettings }

export async function readDevice(): Promise<Known> {
  const device = await openDevice()
  return device ? { device, choices: await readWorkerSettings(device.db) } : nothingKnown
}

/** Undefined if no one is signed in. */
export async function openDevice(): Promise<WorkerDevice | undefined> {
  const db = await deviceDb()
  const kept = await db.read(entry)
  if (!isSignedIn(kept)) return undefined
  await cryptoReady()
  return { db, rest: restOf(db, kept), name: kept.deviceName, secret: () => bytesOf(kept.secret) }
}

function restOf(db: DeviceDb, kept: SignIn): Rest {
  const server = location.origin
  const ask: typeof fetch = (url, init) => fetch(url, init)
  const tokens = keptTokens(
    async () => db,
    kept,
    () => tellTabs({ type: 'account-changed' })
  )
  const token = keepToken({ server, fetch: ask, kept: { token: kept.token, renewal: kept.renewal }, ...tokens })
  return createRest({ server, token, fetch: ask })
}
