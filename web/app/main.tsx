import { effect } from '@preact/signals'
import { render } from 'preact'
import { startClock } from '../core/clock.ts'
import { route, startRouter } from '../core/router.ts'
import { startUpdates } from '../core/updates.ts'
import { account, live, openAccount } from '../model/account/account.ts'
import { loadLaterWords } from '../words/translations.ts'
import { App } from './app.tsx'

startRouter()
if (route.peek().name === 'session') fetchSession()
startClock()
const place = document.getElementById('app')
if (place) render(<App />, place)
if (isSecureContext) {
  void openAccount()
  startUpdates()
  showNotifications()
}

/** Notifications, as long as there is a link; once the server ended the sign-in none may come any more. */
function showNotifications(): void {
  const load = () => import('../model/notifications/device-notifications.ts')
  effect(() => {
    const link = live.value
    if (!link) return
    const started = load().then(
      ({ startNotifications }) => (live.peek() === link ? startNotifications(link) : undefined),
      () => undefined
    )
    return () => void started.then(stop => stop?.())
  })
  effect(() => {
    if (account.value.type === 'unlinked')
      load()
        .then(({ forgetNotifications }) => forgetNotifications())
        .catch(() => {})
  })
}

/** What a session is opened with comes while the device still looks up whose it is. */
function fetchSession(): void {
  for (const part of [
    import('../model/account/live.ts'),
    loadLaterWords().then(() => import('../session/session.tsx')),
    import('../session/text/rich.ts')
  ])
    part.catch(() => {})
}
