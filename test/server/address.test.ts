import t from 'tap'
import { networkOf, readAddress, readTrustedProxies, subnetOf } from '../../lib/server/address.ts'

const read: [text: string, address: string | undefined][] = [
  ['192.0.2.43', '192.0.2.43'],
  ['192.0.2.43:4711', '192.0.2.43'],
  ['2001:db8::17', '2001:0db8:0000:0000:0000:0000:0000:0017'],
  ['[2001:db8::17]:4711', '2001:0db8:0000:0000:0000:0000:0000:0017'],
  ['::', '0000:0000:0000:0000:0000:0000:0000:0000'],
  ['::ffff:192.0.2.43', '192.0.2.43'],
  ['0000:0000:0000:0000:0000:ffff:c000:022b', '192.0.2.43'],
  ['fe80::1%eth0', 'fe80:0000:0000:0000:0000:0000:0000:0001'],
  ['unknown', undefined],
  ['_hidden', undefined],
  ['192.0.2', undefined],
  ['192.0.2.256', undefined],
  ['', undefined]
]

t.test('an address has one canonical form, however it was written [Q1]', async t => {
  for (const [text, address] of read) t.equal(readAddress(text), address, text)
})

t.test('limits count an IPv4 address and an IPv6 /64 as one, pairing a /24 and a /56 [Q1, A7]', async t => {
  const six = readAddress('2001:db8:1:2:3:4:5:6') ?? ''
  t.same([subnetOf('192.0.2.43'), subnetOf(six)], ['192.0.2.43', '2001:0db8:0001:0002'])
  t.same([networkOf('192.0.2.43'), networkOf(six)], ['192.0.2', '2001:0db8:0001:00'])
})

const trusted: [option: string | undefined, address: string, isTrusted: boolean][] = [
  [undefined, '127.0.0.1', false],
  ['loopback', '127.8.9.10', true],
  ['loopback', '0000:0000:0000:0000:0000:0000:0000:0001', true],
  ['loopback', '10.0.0.1', false],
  ['10.0.0.0/8, 192.0.2.1', '10.255.0.1', true],
  ['10.0.0.0/8, 192.0.2.1', '192.0.2.1', true],
  ['10.0.0.0/8, 192.0.2.1', '192.0.2.2', false],
  ['2001:db8::/32', '2001:0db8:ffff:0000:0000:0000:0000:0001', true],
  ['2001:db8::/32', '2001:0db9:0000:0000:0000:0000:0000:0001', false]
]

t.test('only the proxies of the option are trusted [Q1]', async t => {
  for (const [option, address, isTrusted] of trusted) t.equal(readTrustedProxies(option)(address), isTrusted, `${option} and ${address}`)
})

t.test('an option that is not a list of addresses is rejected in one sentence', async t => {
  for (const option of ['proxy.example', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/9', '10.0.0.1,,10.0.0.2', '::1/129']) {
    t.throws(() => readTrustedProxies(option), { name: 'CannotStart', message: /^--trust-proxy .*\.$/ }, option)
  }
})
