import t from 'tap'
import { readNetworks } from '../../../lib/server/address.ts'
import { mayReach, openOutbound } from '../../../lib/server/push/guarded-outbound.ts'
import { startStandIn } from './stand-in.ts'

const home = readNetworks('192.168.1.0/24, fd12::/16, 169.254.0.0/16', '--push-allow')
const nobody = readNetworks(undefined, '--push-allow')

t.test('requests go to public addresses over TLS, and to networks that the operator named [P5]', async t => {
  const table: [address: string, isAllowed: boolean, atHome: boolean, plainAtHome: boolean][] = [
    ['93.184.216.34', true, true, false],
    ['2606:2800:0220:0001:0248:1893:25c8:1946', true, true, false],
    ['192.168.1.7', false, true, true],
    ['fd12:0000:0000:0000:0000:0000:0000:0001', false, true, true],
    // Everything that is not the internet.
    ...[
      ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.9.9.9', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1'],
      ...['192.168.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
      ...['0000:0000:0000:0000:0000:0000:0000:0001', '0000:0000:0000:0000:0000:0000:0000:0000', 'fc00:0000:0000:0000:0000:0000:0000:0001'],
      ...['ff02:0000:0000:0000:0000:0000:0000:0001', '2001:0db8:0000:0000:0000:0000:0000:0001', '2001:0000:0000:0000:0000:0000:0000:0001'],
      ...['3fff:0000:0000:0000:0000:0000:0000:0001', 'fec0:0000:0000:0000:0000:0000:0000:0001'],
      // Link-local and metadata, also where the operator named the network.
      ...['169.254.169.254', '169.254.1.1', '100.100.100.200', '192.0.0.192', 'fe80:0000:0000:0000:0000:0000:0000:0001'],
      'fd00:0ec2:0000:0000:0000:0000:0000:0254',
      // IPv4 inside IPv6: NAT64 and 6to4 of private and metadata addresses.
      ...['0064:ff9b:0000:0000:0000:0000:0a00:0001', '0064:ff9b:0000:0000:0000:0000:a9fe:a9fe', '2002:7f00:0001:0000:0000:0000:0000:0001'],
      ...['2002:c0a8:0201:0000:0000:0000:0000:0001', '0064:ff9b:0001:0000:0000:0000:0a00:0001']
    ].map((address): [string, boolean, boolean, boolean] => [address, false, false, false]),
    ['0064:ff9b:0000:0000:0000:0000:5db8:d822', true, true, false]
  ]
  for (const [address, isAllowed, atHome, plainAtHome] of table) {
    t.equal(mayReach(address, { allowed: nobody }, { isSecure: true }), isAllowed, address)
    t.equal(mayReach(address, { allowed: nobody }, { isSecure: false }), false, `${address} without TLS`)
    t.equal(mayReach(address, { allowed: home }, { isSecure: true }), atHome, `${address} from home`)
    t.equal(mayReach(address, { allowed: home }, { isSecure: false }), plainAtHome, `${address} from home without TLS`)
  }
})

const signal = () => AbortSignal.timeout(5_000)
const loopback = readNetworks('loopback', '--push-allow')

t.test('an address is judged by its value, however it is written [P5]', async t => {
  const service = await startStandIn(t)
  const lookup = (host: string, done: (error: Error | null, found: { address: string; family: number }[]) => void) =>
    done(null, [{ address: host === 'six.example' ? '::ffff:127.0.0.1' : '127.0.0.1', family: host === 'six.example' ? 6 : 4 }])
  const closed = openOutbound({ allowed: nobody, ownPort: () => 0 }, { lookup })
  t.teardown(() => closed.close())
  const forms = [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'localhost',
    'rebinding.example',
    'six.example',
    '0'
  ]
  for (const scheme of ['http', 'https']) {
    for (const form of forms) {
      const asked = closed.send({ url: `${scheme}://${form}:${service.port}/x`, headers: {}, signal: signal() })
      await t.rejects(asked, /may not be reached|may be reached/, `${scheme} ${form}`)
    }
  }
  for (const url of [
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://user:secret@93.184.216.34/',
    'not an address',
    '//x',
    'gopher://127.0.0.1'
  ]) {
    await t.rejects(closed.send({ url, headers: {}, signal: signal() }), { name: 'NotAllowed' }, url)
  }
  t.same(service.requests, [])
})

t.test('a name is resolved once, and the connection goes to the checked address [P5]', async t => {
  const service = await startStandIn(t)
  const hosts: string[] = []
  const found = [
    [
      { address: '10.0.0.1', family: 4 },
      { address: '127.0.0.1', family: 4 }
    ],
    [{ address: '10.0.0.1', family: 4 }]
  ]
  const outbound = openOutbound(
    { allowed: loopback, ownPort: () => 0 },
    {
      lookup(host, done) {
        hosts.push(host)
        done(null, found.shift() ?? [])
      }
    }
  )
  t.teardown(() => outbound.close())
  t.match(await outbound.send({ url: `http://changes.example:${service.port}/x`, headers: {}, signal: signal() }), { status: 200 })
  t.same(hosts, ['changes.example'])
  t.equal(service.requests[0]?.headers.host, `changes.example:${service.port}`)
})

t.test('this server itself is never called, even if its network is allowed [P5]', async t => {
  const service = await startStandIn(t)
  const outbound = openOutbound(
    { allowed: loopback, ownPort: () => service.port },
    { lookup: (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) }
  )
  t.teardown(() => outbound.close())
  for (const host of ['127.0.0.1', '127.0.0.2', '[::1]', 'some.name']) {
    await t.rejects(outbound.send({ url: `http://${host}:${service.port}/`, headers: {}, signal: signal() }), { name: 'NotAllowed' }, host)
  }
  t.same(service.requests, [])
})

t.test('no redirect is followed, and a huge, endless or missing answer is cut off', async t => {
  const service = await startStandIn(t)
  const outbound = openOutbound({ allowed: loopback, ownPort: () => 0 })
  t.teardown(() => outbound.close())
  const ask = (end = signal()) => outbound.send({ url: `${service.url}/x`, headers: {}, signal: end })
  service.answer = () => ({ status: 302, headers: { location: 'http://169.254.169.254/' } })
  t.match(await ask(), { status: 302 })
  t.equal(service.requests.length, 1)
  service.answer = () => 'endless'
  await t.rejects(ask(), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' })
  service.answer = () => ({ text: 'x'.repeat(1024 * 1024) })
  await t.rejects(ask(), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' })
  service.answer = () => 'never'
  const giveUp = new AbortController()
  const asked = ask(giveUp.signal)
  await service.came(4)
  giveUp.abort()
  await t.rejects(asked, { name: 'AbortError' })
})

t.test('Retry-After is parsed as seconds and as a date', async t => {
  const service = await startStandIn(t)
  const now = Date.parse('2026-01-01T00:00:00Z')
  const outbound = openOutbound({ allowed: loopback, ownPort: () => 0 }, { now: () => now })
  t.teardown(() => outbound.close())
  for (const [header, expected] of [
    ['120', 120_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['soon', undefined]
  ] as const) {
    service.answer = () => ({ status: 429, headers: { 'retry-after': header } })
    t.match(await outbound.send({ url: service.url, headers: {}, signal: signal() }), { status: 429, retryAfterMs: expected }, header)
  }
})
