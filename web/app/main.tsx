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

/** Shows notifications while there is a link. Once the server has ended the sign-in, none may arrive any more. */
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

/** Loads the code of a session while the stored account is being read. */
function fetchSession(): void {
  for (const part of [
    import('../model/account/live.ts'),
    loadLaterWords().then(() => import('../session/session.tsx')),
    import('../session/text/rich.ts')
  ])
    part.catch(() => {})
}
