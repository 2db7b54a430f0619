import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Finding } from '../../lib/doctor/finding.ts'
import { afield } from '../bin/kit/afield.ts'
import { isMissing, type ProxyName, startReverseProxy } from '../kit/reverse-proxy.ts'
import { portToKeep, startServer } from '../kit/server.ts'

const healthy = {
  address: 'ok',
  WebSocket: 'ok',
  'host name': 'ok',
  'Origin header': 'ok',
  'client addresses': 'ok',
  uploads: 'ok'
}

for (const name of ['nginx', 'caddy', 'haproxy'] as const) {
  t.test(`the recipe for ${name} has no fault`, { skip: isMissing(name) }, async t => {
    t.same(statesOf(await diagnose(t, name)), healthy)
  })
}

const faults: [what: string, name: ProxyName, change: (recipe: string) => string, of: string, advice: RegExp][] = [
  ['speaks HTTP/1.0', 'nginx', without('proxy_http_version'), 'address', /proxy_http_version 1\.1;/],
  ['forwards no WebSocket', 'nginx', adding("proxy_set_header Sec-WebSocket-Key '';"), 'WebSocket', /proxy_set_header Upgrade/],
  ['names itself as the host', 'nginx', without('proxy_set_header Host'), 'host name', /proxy_set_header Host \$http_host;/],
  [
    'drops the port of the host',
    'nginx',
    recipe => recipe.replace('$http_host', '$host'),
    'host name',
    /proxy_set_header Host \$http_host;/
  ],
  ['clears Origin', 'nginx', adding("proxy_set_header Origin '';"), 'Origin header', /Origin/],
  ['passes on what clients claim', 'nginx', without('X-Forwarded-For'), 'client addresses', /X-Forwarded-For \$remote_addr;/],
  ['reports no addresses', 'nginx', recipe => recipe.replace('$remote_addr', "''"), 'client addresses', /X-Forwarded-For \$remote_addr;/],
  ['limits bodies to 1 MB', 'nginx', without('client_max_body_size'), 'uploads', /client_max_body_size 100m;/]
]

for (const [what, name, change, of, advice] of faults) {
  t.test(`a proxy that ${what} is reported with the line to add`, { skip: isMissing(name) }, async t => {
    const findings = await diagnose(t, name, { change })
    const found = findings.find(finding => finding.of === of)
    t.not(found?.state, 'ok')
    t.match(found?.advice, advice)
    // Where nothing passes, no WebSocket does either.
    const others = findings.filter(
      finding => ![of, ...(of === 'address' ? ['WebSocket'] : [])].includes(finding.of) && finding.state !== 'ok'
    )
    t.same(
      others.map(({ of }) => of),
      [],
      'and nothing else is'
    )
  })
}

t.test('a proxy that the server does not trust is reported', { skip: isMissing('nginx') }, async t => {
  const findings = await diagnose(t, 'nginx', { trustProxy: undefined })
  t.match(
    findings.filter(({ state }) => state !== 'ok'),
    [{ of: 'client addresses', advice: /--trust-proxy loopback/ }]
  )
})

t.test('a proxy without a server behind it is told from a server that fails', { skip: isMissing('nginx') }, async t => {
  const findings = await diagnose(t, 'nginx', { isDown: true })
  t.match(
    findings.filter(({ state }) => state === 'fail'),
    [{ of: 'address', says: /502/, advice: /proxy_pass/ }, { of: 'WebSocket' }]
  )
})

function without(line: string): (recipe: string) => string {
  return recipe => recipe.replace(new RegExp(`^.*${line}.*\n`, 'gm'), '')
}

function adding(line: string): (recipe: string) => string {
  return recipe => recipe.replace(/^.*proxy_pass.*\n/m, `$&${line}\n`)
}

/** What doctor says of the address, in a process of its own, which trusts the certificate. */
async function diagnose(
  t: Test,
  name: ProxyName,
  given: { change?: (recipe: string) => string; trustProxy?: string | undefined; isDown?: boolean } = {}
): Promise<Finding[]> {
  const { change, trustProxy, isDown = false } = { trustProxy: 'loopback', ...given }
  const data = join(t.testdir(), 'data')
  mkdirSync(data, { mode: 0o700 })
  const ports = { port: await portToKeep(), serverPort: await portToKeep() }
  const proxy = await startReverseProxy(t, name, { ...ports, ...(change && { change }) })
  if (!isDown) await startServer(t, { data, port: ports.serverPort, publicUrl: proxy.url, ...(trustProxy !== undefined && { trustProxy }) })
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
