import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Finding } from '../../lib/doctor/finding.ts'
import { examineProxy } from '../../lib/doctor/proxy.ts'
import { afield } from '../bin/kit/afield.ts'
import { lacks } from '../kit/needs.ts'
import { portToKeep } from '../kit/port.ts'
import { overSocket, type ProxyName, startReverseProxy } from '../kit/reverse-proxy.ts'
import { startServer } from '../kit/server.ts'

const healthy = {
  address: 'ok',
  WebSocket: 'ok',
  'host name': 'ok',
  'Origin header': 'ok',
  'client addresses': 'ok',
  uploads: 'ok'
}

for (const name of ['nginx', 'caddy', 'haproxy'] as const) {
  t.test(`the recipe for ${name} has no fault`, { skip: lacks(name) }, async t => {
    t.same(statesOf(await diagnose(t, name)), healthy)
  })

  t.test('nor has its variant for a Unix socket', { skip: lacks(name) }, async t => {
    t.testdir()
    // HAProxy takes no longer path than 97 bytes.
    const folder = mkdtempSync(join(tmpdir(), 'afield-doctor-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const socket = join(folder, 's')
    t.same(statesOf(await diagnose(t, name, { socket })), healthy)
  })
}

type Change = (recipe: string) => string

const upgrade = /proxy_set_header Upgrade \$http_upgrade;/
const hostName = /proxy_set_header Host \$http_host;/
const clientAddress = /proxy_set_header X-Forwarded-For \$remote_addr;/

// Several at once, because each run starts a program; those of one check need a run each.
const faults: [what: string, name: ProxyName, changes: Change[], found: Record<string, RegExp>][] = [
  [
    'forwards no WebSocket, drops the port, clears Origin, passes on what clients claim, and limits bodies',
    'nginx',
    [
      adding("proxy_set_header Sec-WebSocket-Key '';"),
      recipe => recipe.replace('$http_host', '$host'),
      adding("proxy_set_header Origin '';"),
      without('X-Forwarded-For'),
      without('client_max_body_size')
    ],
    {
      WebSocket: upgrade,
      'host name': hostName,
      'Origin header': /Remove the line/,
      'client addresses': clientAddress,
      uploads: /client_max_body_size 100m;/
    }
  ],
  [
    'names itself as the host and reports no addresses',
    'nginx',
    [without('proxy_set_header Host'), recipe => recipe.replace('$remote_addr', "''")],
    { 'host name': hostName, 'client addresses': clientAddress }
  ],
  ['speaks HTTP/1.0', 'nginx', [without('proxy_http_version')], { address: /proxy_http_version 1\.1;/, WebSocket: upgrade }],
  [
    'clears Origin and forwards no WebSocket',
    'haproxy',
    [adding('http-request del-header Origin'), adding('http-request deny if { req.hdr(upgrade) -m found }')],
    { 'Origin header': /Remove the line/, WebSocket: upgrade }
  ]
]

for (const [what, name, changes, found] of faults) {
  t.test(`${name} that ${what} is reported with what to change, and nothing else is`, { skip: lacks(name) }, async t => {
    const change = (recipe: string) => changes.reduce((text, change) => change(text), recipe)
    const findings = await diagnose(t, name, { change })
    const advice = findings.filter(({ state }) => state !== 'ok').map(({ of, advice }) => [of, advice])
    t.same(advice.map(([of]) => of).toSorted(), Object.keys(found).toSorted())
    t.match(Object.fromEntries(advice), found)
  })
}

t.test('a proxy that the server does not trust is reported', { skip: lacks('nginx') }, async t => {
  const findings = await diagnose(t, 'nginx', { trustProxy: undefined })
  t.match(
    findings.filter(({ state }) => state !== 'ok'),
    [{ of: 'client addresses', advice: /--trust-proxy loopback/ }]
  )
})

t.test('a proxy without a server behind it is told from a server that fails', { skip: lacks('nginx') }, async t => {
  const findings = await diagnose(t, 'nginx', { isDown: true })
  t.match(
    findings.filter(({ state }) => state === 'fail'),
    [{ of: 'address', says: /502/, advice: /proxy_pass/ }, { of: 'WebSocket' }]
  )
})

t.test('client addresses are right only if the proxy reports them and drops what clients claim', async t => {
  const rows: [forwarded: string, isClaimBelieved: boolean, found: object][] = [
    ['no', false, { state: 'warn', advice: /X-Forwarded-For/ }],
    ['untrusted', false, { state: 'warn', advice: /--trust-proxy/ }],
    ['untrusted', true, { state: 'warn', advice: /--trust-proxy/ }],
    ['trusted', false, { state: 'ok' }],
    ['trusted', true, { state: 'fail', advice: /replace that header/ }]
  ]
  for (const [forwarded, isClaimBelieved, found] of rows) {
    const server = createServer((request, response) => {
      const { host, origin } = request.headers
      request.resume()
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ received: { url: `http://${host}`, origin, forwarded, isClaimBelieved } }))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no address')
    const findings = await examineProxy(`http://127.0.0.1:${address.port}`)
    server.close()
    t.match(
      findings.filter(({ of }) => of === 'client addresses'),
      [found],
      `${forwarded} ${isClaimBelieved}`
    )
    t.same(statesOf(findings.filter(({ of }) => of !== 'client addresses')), { 'host name': 'ok', 'Origin header': 'ok', uploads: 'ok' })
  }
})

function without(line: string): Change {
  return recipe => recipe.replace(new RegExp(`^.*${line}.*\n`, 'gm'), '')
}

/** Beside the line that forwards. */
function adding(lines: string): Change {
  return recipe => recipe.replace(/^.*(proxy_pass|reverse_proxy|default_backend)/m, `${lines}\n$&`)
}

/** What doctor says of the address, in a process of its own, which trusts the certificate. */
async function diagnose(
  t: Test,
  name: ProxyName,
  given: { change?: Change; trustProxy?: string | undefined; isDown?: boolean; socket?: string } = {}
): Promise<Finding[]> {
  const { socket, trustProxy, isDown = false } = { ...(given.socket === undefined && { trustProxy: 'loopback' }), ...given }
  const change = socket === undefined ? given.change : overSocket(name, socket)
  const data = join(socket === undefined ? t.testdir() : t.testdirName, 'data')
  mkdirSync(data, { mode: 0o700 })
  const ports = { port: await portToKeep(), serverPort: await portToKeep() }
  const proxy = await startReverseProxy(t, name, { ...ports, ...(change && { change }) })
  const where = socket === undefined ? { port: ports.serverPort } : { socket }
  if (!isDown) await startServer(t, { data, ...where, publicUrl: proxy.url, ...(trustProxy !== undefined && { trustProxy }) })
  const args = ['doctor', '--json', '--data', data, '--public-url', proxy.url, '--expo-url', 'off']
  const env = { NODE_EXTRA_CA_CERTS: proxy.authority, AFIELD_HOME: join(t.testdirName, 'home') }
  const { stdout } = await afield(args, env)
  const findings: Finding[] = JSON.parse(stdout)
  const own = ['data directory', 'disk', 'database', 'server', 'stored rows', 'clock', 'certificate', 'notifications']
  return findings.filter(({ of }) => !own.includes(of))
}

function statesOf(findings: Finding[]): Record<string, Finding['state']> {
  return Object.fromEntries(findings.map(({ of, state }) => [of, state]))
}
