import t from 'tap'
import { openDevices } from '../../kit/browser.ts'
import { lacks } from '../../kit/needs.ts'
import { portToKeep } from '../../kit/port.ts'
import { startReverseProxy } from '../../kit/reverse-proxy.ts'
import { startServer } from '../../kit/server.ts'
import { proxyJourney } from './journey.ts'

proxyJourney(t, 'nginx')

t.test('under a path the page says that the app needs a host name of its own', { skip: lacks('nginx') }, async t => {
  const serverPort = await portToKeep()
  const change = (recipe: string) => recipe.replace('location /', '$&afield/').replace('127.0.0.1:3005', '$&/')
  const proxy = await startReverseProxy(t, 'nginx', { serverPort, change })
  await startServer(t, { port: serverPort, publicUrl: proxy.url, trustProxy: 'loopback' })
  const devices = await openDevices(t, { trustedKey: proxy.keyHash })
  const phone = await devices.open(t, proxy.url)
  await phone.visit('/afield/')
  await phone.see(/needs a host name of its own/)

  const direct = await devices.open(t, `http://127.0.0.1:${serverPort}`)
  await direct.visit('/')
  await direct.see('Create an account')
  t.notOk(await direct.page.getByText('needs a host name of its own').isVisible())
})
