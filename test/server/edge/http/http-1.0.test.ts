import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../../../kit/server.ts'
import { exchange } from '../../raw-http.ts'

t.test('a proxy that speaks HTTP/1.0 is told so, and the docs say how to configure it', async t => {
  const server = await startServer(t)
  t.match(await exchange(t, server, 'GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n'), /^HTTP\/1\.1 505 /)
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/proxies.md'), 'utf8')
  for (const line of ['proxy_http_version 1.1;', 'proxy_set_header Upgrade $http_upgrade;', 'HTTP/1.0 is answered with 505'])
    t.ok(page.includes(line), line)
})
