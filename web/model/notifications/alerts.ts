import { type ReadonlySignal, signal } from '@preact/signals'
import type { Alert } from '../../core/worker-messages.ts'

const alertNow = signal<Alert | undefined>(undefined)
let hiding: ReturnType<typeof setTimeout> | undefined

/** An in-app alert in place of a notification. */
export const shownAlert: ReadonlySignal<Alert | undefined> = alertNow

const shownForMs = 8_000

/** There is one place for alerts, and the last one wins. */
export function showAlert(alert: Alert): void {
  clearTimeout(hiding)
  alertNow.value = alert
  hiding = setTimeout(hideAlert, shownForMs)
}

export function hideAlert(): void {
  clearTimeout(hiding)
  alertNow.value = undefined
}
