import { render } from 'preact'
import { App } from './app.tsx'
import { route, startRouter } from './router.ts'
import { openAccount } from './state/account.ts'
import { startClock } from './state/clock.ts'
import { startUpdates } from './state/updates.ts'
import { speakLater } from './words/language.ts'

startRouter()
if (route.peek().name === 'session') fetchSession()
startClock()
const place = document.getElementById('app')
if (place) render(<App />, place)
if (isSecureContext) {
  void openAccount()
  startUpdates()
}

/** What a session is opened with comes while the device still looks up whose it is. */
function fetchSession(): void {
  for (const part of [import('./state/live.ts'), speakLater().then(() => import('./screens/session.tsx')), import('./parts/rich.ts')])
    part.catch(() => {})
}
