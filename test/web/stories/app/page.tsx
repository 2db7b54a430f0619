import { render } from 'preact'
import { App } from '../../../../web/app/app.tsx'
import { startClock } from '../../../../web/core/clock.ts'
import { connection, lastingConnection } from '../../../../web/core/connection.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { noteServerSpace, withSpaceCheck } from '../../../../web/core/free-space.ts'
import { startLock } from '../../../../web/core/lock.ts'
import { startPreferences } from '../../../../web/core/preferences.ts'
import { startRouter } from '../../../../web/core/router.ts'
import { openAccount } from '../../../../web/model/account/account.ts'
import { noteFirstRun } from '../../../../web/model/account/first-run.ts'
import { updateHome } from '../../../../web/model/home.ts'
import { showAlert } from '../../../../web/model/notifications/alerts.ts'
import { type AppStory, show, shown } from './app-story.ts'
import { answerFetches } from './fetches.ts'
import { press } from './press.ts'
import { pretend } from './reach.ts'
import type { MachineResponses, ServerResponses } from './responses.ts'
import { appStories } from './stories.ts'

const params = new URLSearchParams(location.search)
const story = appStories[params.get('app') ?? '']
if (story) await begin(story)
else document.body.textContent = Object.keys(appStories).join(' ')

/** For tests: the server and the machines answer these from now on. */
Object.assign(globalThis, {
  respond(server: ServerResponses, machine: MachineResponses = {}) {
    const now = shown()
    show({ ...now, server: { ...now.server, ...server }, machine: { ...now.machine, ...machine } })
  },
  /** The server tells this. */
  tellHome: updateHome
})

async function begin(story: AppStory): Promise<void> {
  show(story)
  history.replaceState(null, '', story.at)
  answerFetches(story)
  await prepare(story)
  startPreferences()
  startLock()
  // After the preferences, which also set it.
  const { documentElement } = document
  documentElement.dataset['theme'] = params.get('theme') ?? 'light'
  documentElement.dir = params.get('dir') ?? 'ltr'
  startRouter()
  startClock()
  render(<App />, document.body)
  if (isSecureContext) {
    await openAccount()
    await settled()
  }
  if (story.full) await fill(story.full)
  if (story.alert) showAlert(story.alert)
  for (const name of story.press ?? []) await press(name)
  documentElement.dataset['story'] = 'told'
}

async function prepare({ account, home, isKeyChecked, isKeyInFile, isFirstRun, kept, reach, stored }: AppStory): Promise<void> {
  localStorage.clear()
  if (reach) await pretend(reach)
  for (const [name, value] of Object.entries(kept ?? {})) localStorage.setItem(name, value)
  if (account === 'private') navigator.storage.getDirectory = () => Promise.reject(new DOMException('', 'SecurityError'))
  if (account === 'insecure') Object.defineProperty(globalThis, 'isSecureContext', { value: false })
  if (account === 'unkept') Object.defineProperty(globalThis, 'indexedDB', { value: undefined })
  if (account === 'insecure' || account === 'unkept') return
  if (isFirstRun === true) {
    noteFirstRun(true)
    PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable = async () => true
  }
  const db = await deviceDb()
  await db.erase()
  if (account === 'none' || account === 'private') return
  await db.write('account', {
    secret: 'mqhE2xQ8yTf7pZrN0aLwKdVbJcUsGi1o3Xl5Yk9HtA4=',
    token: 't',
    deviceName: 'Chrome on Android',
    createdAt: Date.now(),
    ...(isKeyChecked === true && { keyCheckedAt: Date.now() }),
    isKeyInFile
  })
  for (const [name, value] of Object.entries(stored ?? {})) await db.write(name, value)
  updateHome({ type: 'restored', home })
}

async function fill(what: 'server' | 'device'): Promise<void> {
  if (what === 'server') noteServerSpace(true)
  else await withSpaceCheck(() => Promise.reject(new DOMException('', 'QuotaExceededError'))).catch(() => {})
}

/** Waits until the screen shows the actual connection state, since it delays problems. */
function settled(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = lastingConnection.subscribe(({ type }) => type === connection.peek().type && resolve())
  return promise.then(() => stop())
}
