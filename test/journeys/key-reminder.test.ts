import t from 'tap'
import { type Device, openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'

const devices = await openDevices(t)

t.test('until the account key is checked, Settings has a dot, and Home reminds weekly, from the second day', async t => {
  const server = await startServerProcess(t)
  const phone = await devices.open(t, server.url)
  const key = await phone.createAccount()
  // Otherwise the server's time would correct the clock.
  await phone.context.route('**/health', route => route.abort())
  const isAsked = async () => (await phone.page.getByText('Do you have your account key?').count()) > 0
  const point = phone.page.getByRole('link', { name: /^Settings.*the account key is not checked yet/ })
  await phone.see('Live')
  t.equal(await point.count(), 0, 'a day to write it down')
  t.notOk(await isAsked())

  await daysPass(phone, 2)
  await phone.see('Do you have your account key?')
  await point.waitFor()
  await phone.press('Next week')
  await phone.seeNoMore('Do you have your account key?')
  t.equal(await point.count(), 1, 'it is still not checked')

  await daysPass(phone, 6)
  await phone.see('Live')
  await point.waitFor()
  t.notOk(await isAsked(), 'once a week')
  await daysPass(phone, 2)
  await phone.see('Do you have your account key?')

  await phone.press('Check my key')
  await phone.press('Check my key')
  await phone.see('Type these three groups')
  for (const label of await phone.page.locator('.fld label').allTextContents()) {
    await phone.write(label, key.split('-')[Number(label.replace(/\D/g, '')) - 1] ?? '')
  }
  await phone.press('Check')
  await phone.see('Correct')
  await phone.visit('/')
  await phone.see('Live')
  t.equal(await point.count(), 0)
  t.notOk(await isAsked())
})

/** Opens the page again after this many days. */
async function daysPass(phone: Device, days: number): Promise<void> {
  await phone.context.addInitScript(
    ms => {
      const before = Date.now
      Date.now = () => before() + ms
    },
    days * 24 * 3600_000
  )
  await phone.visit('/')
}
