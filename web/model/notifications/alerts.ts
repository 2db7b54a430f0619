import { type ReadonlySignal, signal } from '@preact/signals'
import type { Alert } from '../../core/worker-messages.ts'

const alertNow = signal<Alert | undefined>(undefined)
let hiding: ReturnType<typeof setTimeout> | undefined

/** What is said inside the app in place of a notification. */
export const shownAlert: ReadonlySignal<Alert | undefined> = alertNow

const shownForMs = 8_000

/** The last one counts: there is one place for it. */
export function showAlert(alert: Alert): void {
  clearTimeout(hiding)
  alertNow.value = alert
  hiding = setTimeout(hideAlert, shownForMs)
}

export function hideAlert(): void {
  clearTimeout(hiding)
  alertNow.value = undefined
}
