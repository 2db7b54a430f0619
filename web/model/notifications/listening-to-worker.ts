import { isLocked } from '../../core/lock.ts'
import { go } from '../../core/router.ts'
import { readPath } from '../../core/routes.ts'
import { type Alert, testPath, type WorkerMessage } from '../../core/worker-messages.ts'
import { showAlert } from './alerts.ts'
import { testTappedAt } from './test-tapped.ts'

/** What the worker asks. Also where notifications have just been turned off: some may be shown still. Returned is what ends it. */
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

/** In place of a notification. Over the lock nothing of the account is said; that something was is heard. */
export function say(alert: Alert): void {
  if (!isLocked.peek()) showAlert(alert)
  if (!alert.isSilent) import('./ringing-sound.ts').then(({ playSound }) => playSound()).catch(() => {})
}
