import t from 'tap'
import { tunnelKinds } from '../../../lib/server/tunnel/kinds.ts'

const { cloudflared, tailscale } = tunnelKinds

t.test('each program is called with the port of the server', async t => {
  t.same(cloudflared.args(3005), ['tunnel', '--no-autoupdate', '--url', 'http://127.0.0.1:3005'])
  t.same(tailscale.args(3005), ['funnel', '3005'])
})

t.test('the public address is found in the line that has it, and not in others', async t => {
  t.equal(cloudflared.addressIn('INF |  https://two-words.trycloudflare.com      |'), 'https://two-words.trycloudflare.com')
  for (const line of [
    'ERR Post "https://api.trycloudflare.com/tunnel": timeout',
    'https://trycloudflare.com',
    'https://x.trycloudflare.community'
  ])
    t.equal(cloudflared.addressIn(line), undefined, line)
  t.equal(tailscale.addressIn('https://laptop.tail-1.ts.net/'), 'https://laptop.tail-1.ts.net')
  t.equal(tailscale.addressIn('https://laptop.ts.net:8443/ (Funnel on)'), 'https://laptop.ts.net:8443')
  t.equal(tailscale.addressIn('https://login.tailscale.com/f/funnel'), undefined)
})

t.test('only the link that turns Funnel on needs a person', async t => {
  t.equal(tailscale.isForPerson('  https://login.tailscale.com/f/funnel?node=x'), true)
  t.equal(tailscale.isForPerson('Available on the internet:'), false)
  t.equal(cloudflared.isForPerson(), false)
})
