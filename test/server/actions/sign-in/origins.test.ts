import { hostname, networkInterfaces } from 'node:os'
import t from 'tap'
import { ownOrigins } from '../../../../lib/server/actions/sign-in/origins.ts'

const isOwn = ownOrigins({ url: new URL('https://home.example/app') })

t.test('a server is known under its public origin and those of its machine [A2]', async t => {
  const name = hostname().toLowerCase()
  const addresses = Object.values(networkInterfaces()).flatMap(list =>
    (list ?? []).map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address))
  )
  const own = [
    'https://home.example',
    'http://localhost:3005',
    'http://[::1]:3005',
    'http://127.0.0.1',
    'http://127.9.8.7',
    `http://${name}`,
    `http://${name}.local`
  ]
  for (const origin of [...own, ...addresses.map(address => `http://${address}:3005`)]) t.equal(isOwn(origin), true, origin)
})

t.test('any other origin is foreign: somebody may forward messages meant for another server [A2]', async t => {
  const foreign = [
    ...[
      'https://home.example/',
      'http://home.example',
      'https://other.example',
      'https://home.example:8443',
      '',
      'localhost',
      'http://localhost/'
    ],
    ...[
      'http://LOCALHOST',
      'http://128.0.0.1',
      'http://127.0.0.1.example',
      'http://x127.0.0.1.example',
      'http://[::2]',
      'http://localhost.example'
    ]
  ]
  for (const origin of foreign) t.equal(isOwn(origin), false, origin)
  t.equal(ownOrigins({ url: undefined })('https://home.example'), false)
})
