import { type ReadonlySignal, signal } from '@preact/signals'
import { deviceDb } from '../core/device-db.ts'
import { changeWorkerSettings, readWorkerSettings } from '../model/notifications/worker-settings.ts'

const mayAllowNow = signal(false)

/** Whether a plain request may be allowed from its notification on this device. Off until its owner turns it on. */
export const mayAllowInNotification: ReadonlySignal<boolean> = mayAllowNow

/** Stored only where the worker reads it, so that no server can change it. */
export async function chooseMayAllow(mayAllow: boolean): Promise<void> {
  await changeWorkerSettings(await deviceDb(), { mayAllow })
  mayAllowNow.value = mayAllow
}

/** Reads the stored choice. Call before showing it. */
export async function readMayAllow(): Promise<void> {
  mayAllowNow.value = (await readWorkerSettings(await deviceDb())).mayAllow
}
