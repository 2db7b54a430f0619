import t from 'tap'
import { networkOf, readAddress } from '../../../lib/server/address.ts'
import { networkName } from '../../../web/core/network-name.ts'

t.test('a network stored by the server is shown in network notation, never as a fragment', async t => {
  const table: [address: string, says: string | undefined][] = [
    ['192.0.2.77', '192.0.2.0/24'],
    ['127.0.0.1', undefined],
    ['::1', undefined],
    ['2001:db8:a1:4b07:1:2:3:4', '2001:db8:a1:4b00::/56'],
    ['2001:db8::1', '2001:db8::/56'],
    ['fd00:0:0:100::7', 'fd00:0:0:100::/56']
  ]
  for (const [address, says] of table) t.equal(networkName(networkOf(readAddress(address) ?? '')), says, address)
  t.equal(networkName('somewhere'), 'somewhere')
})
