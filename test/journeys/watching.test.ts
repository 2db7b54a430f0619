import t from 'tap'
import { formatBackupKey } from '../../lib/crypto/index.ts'
import { openDevices } from '../kit/browser.ts'
import { startServerProcess } from '../kit/server.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'

const devices = await openDevices(t)

t.test('a viewer who opens a session in the app is counted at its terminal until they leave it', async t => {
  const server = await startServerProcess(t)
  const { phone, home } = await linkedComputer(t, server)
  const device = await devices.open(t, server.url)
  await device.visit('/restore')
  await device.write('Account key', formatBackupKey(phone.secret))
  await device.press('Restore')
  await device.see('Live')
  const terminal = runOnTerminal(t, { home, directory: home, args: ['demo'] })
  const session = await phone.session()
  await terminal.sees(/Watching +nobody/)
  await device.visit(`/s/${session.id}`)
  await terminal.sees(/Watching +1 device/)
  await device.page.goBack()
  await terminal.sees(/Watching +nobody/)
  t.notMatch(terminal.screen, /1 device/)
})
