import { type ReadonlySignal, signal } from '@preact/signals'
import { deviceDb } from '../core/device-db.ts'
import { changeWorkerSettings, readWorkerSettings } from '../model/notifications/worker-settings.ts'

const mayAllowNow = signal(false)

/** Whether a plain request may be allowed in its notification, on this device. Off until its owner said otherwise. */
export const mayAllowInNotification: ReadonlySignal<boolean> = mayAllowNow

/** Kept where the worker finds it, and nowhere else: no server decides it. */
export async function chooseMayAllow(mayAllow: boolean): Promise<void> {
  await changeWorkerSettings(await deviceDb(), { mayAllow })
  mayAllowNow.value = mayAllow
}

/** What is kept, before it is shown. */
export async function readMayAllow(): Promise<void> {
  mayAllowNow.value = (await readWorkerSettings(await deviceDb())).mayAllow
}
