import type { NetworkInterfaceInfo } from 'node:os'
import t from 'tap'
import { reachableUrls } from '../../../../lib/server/edge/listen/reachable-urls.ts'

const at = (address: string, family: 'IPv4' | 'IPv6' = 'IPv4', internal = false) =>
  ({ address, family, internal, netmask: '', mac: '', cidr: null, scopeid: 0 }) as NetworkInterfaceInfo
const home = {
  lo: [at('127.0.0.1', 'IPv4', true), at('::1', 'IPv6', true)],
  eth0: [at('192.168.1.5'), at('fe80::1', 'IPv6')],
  wg0: [at('10.8.0.2')]
}

const cases: [url: string, interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>, urls: string[]][] = [
  ['http://0.0.0.0:3005', home, ['http://192.168.1.5:3005', 'http://10.8.0.2:3005']],
  ['https://[::]:3005', home, ['https://192.168.1.5:3005', 'https://10.8.0.2:3005']],
  ['http://0.0.0.0:3005', { lo: home.lo }, ['http://127.0.0.1:3005']],
  ['http://[::]:3005', { lo: home.lo }, ['http://[::1]:3005']],
  [
    'http://0.0.0.0:3005',
    { docker0: [at('172.17.0.1')], 'br-1a2b': [at('172.18.0.1')], ...home },
    ['http://192.168.1.5:3005', 'http://10.8.0.2:3005']
  ],
  ['http://10.8.0.2:3005', home, ['http://10.8.0.2:3005']],
  ['http://127.0.0.1:3005', home, ['http://127.0.0.1:3005']]
]
for (const [url, interfaces, urls] of cases) {
  t.test(`a server listening on ${url} on a machine with ${Object.keys(interfaces)} is reachable at ${urls}`, async t => {
    t.same(reachableUrls(url, interfaces), urls)
  })
}
