import './no-eval.ts'
import { render } from 'preact'
import { App } from './app.tsx'
import { startRouter } from './router.ts'
import { openAccount } from './state/account.ts'
import { startClock } from './state/clock.ts'
import { startPreferences } from './state/preferences.ts'
import { startUpdates } from './state/updates.ts'

startPreferences()
startRouter()
startClock()
const place = document.getElementById('app')
if (place) render(<App />, place)
if (isSecureContext) {
  void openAccount()
  startUpdates()
}
