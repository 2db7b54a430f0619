import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'

const devices = await openDevices(t)

t.test('offline, the app shows the state as last received and says since when, also after the app was closed [acceptance 2]', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  const { page } = phone
  const begun = new Date()
  // At noon, so that an hour later is the same day.
  begun.setHours(12, 0, 30, 0)
  await page.clock.setFixedTime(begun)
  const opening = page.waitForEvent('websocket')
  await phone.createAccount()
  const line = await opening
  await phone.see('Live')
  await page.evaluate('navigator.serviceWorker.ready')

  // Each step of the clock waits for a message of the server.
  const at = (seconds: number) => new Date(begun.getTime() + seconds * 1000)
  for (const seconds of [15, 30, 45]) {
    await page.clock.setFixedTime(at(seconds))
    const heard = line.waitForEvent('framereceived')
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await heard
  }
  await server.kill()
  await phone.context.setOffline(true)
  const stood = 'Last updated at 12:01.'
  await phone.see('You are offline')
  await phone.see(stood)

  await page.clock.setFixedTime(at(3600))
  await page.reload()
  await phone.see('You are offline')
  await phone.see(stood)
})

t.test('where only WebSocket is blocked, the app says so, and no longer once it opens', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  await phone.createAccount()
  await phone.see('Live')
  let isBlocked = true
  await phone.page.routeWebSocket(/updates/, route => void (isBlocked ? route.close() : route.connectToServer()))
  await phone.page.reload()
  await phone.see('WebSocket is blocked')
  isBlocked = false
  await phone.press('Retry now')
  await phone.see('Live')
  await phone.seeNoMore('WebSocket is blocked')
})
