import { isLocked } from '../../core/lock.ts'
import { go } from '../../core/router.ts'
import { readPath } from '../../core/routes.ts'
import { type Alert, testPath, type WorkerMessage } from '../../core/worker-messages.ts'
import { showAlert } from './alerts.ts'
import { testTappedAt } from './test-tapped.ts'

/** Handles requests of the worker, also right after notifications were turned off, since some may still be shown. Returns a function that stops it. */
export function listenToWorker(): () => void {
  const stopped = new AbortController()
  const hear = ({ data, ports }: MessageEvent<WorkerMessage | undefined>) => {
    switch (data?.type) {
      case 'open':
        if (data.path === testPath) testTappedAt.value = Date.now()
        go(readPath(data.path))
        break
      case 'alert':
        say(data)
        break
      default:
        return
    }
    ports[0]?.postMessage('taken')
  }
  navigator.serviceWorker.addEventListener('message', hear, { signal: stopped.signal })
  return () => stopped.abort()
}

/** In place of a notification. Over the lock it shows nothing of the account, but plays the sound. */
export function say(alert: Alert): void {
  if (!isLocked.peek()) showAlert(alert)
  if (!alert.isSilent) import('./alert-sound.ts').then(({ playSound }) => playSound()).catch(() => {})
}
