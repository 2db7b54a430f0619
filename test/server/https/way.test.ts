import t from 'tap'
import type { Tailscale } from '../../../lib/server/https/tailscale.ts'
import { chooseWay, letsEncrypt } from '../../../lib/server/https/way.ts'

/** The way for a host with this public URL, and whether Tailscale was asked. */
async function wayOf(publicUrl: string | undefined, more: { tailscale?: Tailscale; tlsCert?: string; httpsDirectory?: string } = {}) {
  let isAsked = false
  const { tailscale = { state: 'missing' }, tlsCert, httpsDirectory = letsEncrypt } = more
  const way = await chooseWay({ publicUrl, tlsCert, httpsDirectory }, async () => {
    isAsked = true
    return tailscale
  })
  return { ...way, isAsked }
}
const ready: Tailscale = { state: 'ready', name: 'laptop.tail.ts.net' }

t.test('own files come first, then an authority for the public name, then Tailscale', async t => {
  t.same(await wayOf('https://home.example.org', { tlsCert: 'cert.pem', tailscale: ready }), { type: 'files', isAsked: false })
  t.same(await wayOf('https://Home.Example.org:8443/', { tailscale: ready }), { type: 'acme', name: 'home.example.org', isAsked: false })
  t.same(await wayOf(undefined, { tailscale: ready }), { type: 'tailscale', name: ready.name, isAsked: true })
  t.same(await wayOf(`https://${ready.name}`, { tailscale: ready }), { type: 'tailscale', name: ready.name, isAsked: true })
})

t.test('a public authority issues nothing for addresses and private names, and a private one may for any name', async t => {
  const names = [
    'localhost',
    'laptop',
    'home.local',
    'a.internal',
    'a.lan',
    'a.home',
    'a.home.arpa',
    'a.test',
    'a.example',
    'a.invalid',
    'a.onion'
  ]
  for (const name of names) {
    t.match(await wayOf(`https://${name}`), { type: 'none' }, name)
    t.match(await wayOf(`https://${name}`, { httpsDirectory: 'https://ca.lan/acme' }), { type: 'acme', name }, name)
  }
  for (const address of ['192.0.2.1', '[2001:db8::1]'])
    for (const httpsDirectory of [letsEncrypt, 'https://ca.lan/acme'])
      t.match(await wayOf(`https://${address}`, { httpsDirectory }), { type: 'none' }, address)
  for (const name of ['mylocal.org', 'home.net', 'test.com']) t.match(await wayOf(`https://${name}`), { type: 'acme', name })
})

t.test('where there is no way to a certificate, the findings say what was looked at and why it will not do', async t => {
  const findings = async (...given: Parameters<typeof wayOf>) => {
    const way = await wayOf(...given)
    return way.type === 'none' ? way.findings : []
  }
  t.same(await findings(undefined), ['No public name is given with --public-url.', 'There is no tailscale program.'])
  t.same(await findings('https://laptop', { tailscale: { state: 'logged-out' } }), [
    'laptop is no public name for which an authority issues certificates.',
    'Tailscale is installed, but not logged in or not running.'
  ])
  t.same(
    (await findings(undefined, { tailscale: { state: 'no-https', name: 'laptop.ts.net' } }))[1],
    'Tailscale is logged in as laptop.ts.net, but HTTPS certificates are not enabled for its network (admin console, DNS).'
  )
  t.same(
    (await findings('https://other.tail.ts.net', { tailscale: ready }))[1],
    'Tailscale is logged in as laptop.tail.ts.net, which is not other.tail.ts.net.'
  )
})
