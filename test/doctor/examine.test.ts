import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { certificate } from '../../lib/doctor/certificate.ts'
import { examineSpace } from '../../lib/doctor/disk.ts'
import { examine, keepsData } from '../../lib/doctor/examine.ts'
import type { Finding } from '../../lib/doctor/finding.ts'
import { startCommand } from '../../lib/doctor/store.ts'
import { completeOptions, type GivenOptions } from '../../lib/options.ts'
import { writeCertificate } from '../kit/certificate.ts'
import { startServer } from '../kit/server.ts'

const day = 24 * 60 * 60 * 1000

t.test('a healthy server gets one line per check', async t => {
  const server = await startServer(t, { data: privateData(t) })
  const seen = await states({ data: server.data, port: server.port, expoUrl: 'off' })
  t.same(seen, {
    'data directory': 'ok',
    disk: 'ok',
    database: 'ok',
    server: 'ok',
    'stored rows': 'ok',
    address: 'ok',
    clock: 'ok',
    WebSocket: 'ok',
    notifications: 'ok'
  })
})

t.test('a running server is checked at the address it reports, not the one in the options', async t => {
  const server = await startServer(t, { data: privateData(t) })
  t.match(await states({ data: server.data, expoUrl: 'off' }), { address: 'ok', WebSocket: 'ok' })
})

t.test('a directory that only has a leftover lock has no server', async t => {
  const data = privateData(t)
  t.notOk(keepsData({ data: join(data, 'none') }))
  t.notOk(keepsData({ data }))
  writeFileSync(join(data, 'afield.lock'), '')
  t.notOk(keepsData({ data }))
  writeFileSync(join(data, 'afield.db'), '')
  t.ok(keepsData({ data }))
})

t.test('a server of another directory does not count as the one that is stopped', async t => {
  const other = await startServer(t, { data: privateData(t) })
  const data = privateData(t)
  const findings = await examine(completeOptions({ data, port: other.port, expoUrl: 'off' }), Date.now)
  t.match(
    findings.find(({ of }) => of === 'address'),
    { state: 'warn', says: `another server answers at ${other.url}: none is running on ${data}`, advice: /--data/ }
  )
  t.notOk(findings.some(({ of }) => of === 'WebSocket'))
})

t.test('a stopped server is started as it was installed', async t => {
  t.match(startCommand(undefined), / serve$/)
  t.equal(startCommand('/usr/lib/systemd/system/afield.service'), 'systemctl start afield')
})

t.test('problems of the directory are reported, and the check changes nothing', async t => {
  const data = privateData(t)
  const none = await states({ data: join(data, 'none'), port: 1, expoUrl: 'off' })
  t.match(none, { 'data directory': 'fail', 'own address': 'fail' })
  t.equal(existsSync(join(data, 'none')), false)

  const server = await startServer(t, { data })
  await server.close()
  const before = readdirSync(data).toSorted()
  chmodSync(data, 0o755)
  t.match(await states({ data, port: 1, expoUrl: 'off' }), { 'data directory': 'warn', server: 'warn', database: 'ok' })
  t.same(
    readdirSync(data)
      .filter(name => !/-(wal|shm)$/.test(name))
      .toSorted(),
    before
  )
})

t.test('a damaged database, or one from a later version, fails [F5] [L3]', async t => {
  const data = privateData(t)
  const server = await startServer(t, { data })
  await server.close()
  const file = join(data, 'afield.db')
  copyFileSync(file, `${file}.whole`)
  const bytes = readFileSync(file)
  bytes.fill(0xff, 4096 * 3, 4096 * 4)
  writeFileSync(file, bytes)
  t.match(await states({ data, port: 1, expoUrl: 'off' }), { database: 'fail' })
  copyFileSync(`${file}.whole`, file)
  const { default: Database } = await import('better-sqlite3')
  const database = new Database(file)
  database.pragma('user_version = 999')
  database.close()
  t.match(await states({ data, port: 1, expoUrl: 'off' }), { database: 'fail' })
})

t.test('another program at the address, a wrong clock and a blocked WebSocket are each reported', async t => {
  const data = privateData(t)
  const other = createServer((request, response) => {
    response.setHeader('date', new Date(Date.now() - 10 * 60_000).toUTCString())
    response.writeHead(request.url === '/health' ? 404 : 400).end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => other.close())
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address ? address.port : 0
  t.match(await states({ data, publicUrl: `http://127.0.0.1:${port}`, expoUrl: 'off' }), {
    address: 'fail',
    clock: 'warn',
    WebSocket: 'fail'
  })
})

t.test('disk space and certificates running out are warned about before they fail', async t => {
  const data = privateData(t)
  t.same(
    [10e9, 200e6, 50e6].map(free => examineSpace(data, free).state),
    ['ok', 'warn', 'fail']
  )
  t.same(
    [60, 13, -1].map(days => certificate(days * day, 0).state),
    ['ok', 'warn', 'fail']
  )
  t.same(
    [3 * day, 1.5 * day, day / 24].map(left => certificate(left, 0).says),
    ['expires in 3 days, on 1970-01-04', 'expires in 36 hours, on 1970-01-02', 'expires in 60 min, on 1970-01-01']
  )
})

t.test('a rejected certificate is reported by its fault: a name it lacks, or that nobody vouches for it', async t => {
  const data = privateData(t)
  const [tlsKey, tlsCert] = [join(data, 'key.pem'), join(data, 'cert.pem')]
  writeCertificate({ tlsKey, tlsCert })
  const { port } = await startServer(t, { data, host: '0.0.0.0', tlsKey, tlsCert })
  const at = async (publicUrl: string) => {
    const findings = await examine(completeOptions({ data, tlsCert, tlsKey, publicUrl, expoUrl: 'off' }), Date.now)
    return findings.find(({ of }) => of === 'public address')
  }
  t.match(await at(`https://localhost:${port}`), { state: 'fail', says: /self-signed: phones accept it only when/, advice: /Install it/ })
  t.match(await at(`https://127.0.0.2:${port}`), {
    state: 'fail',
    says: /is not for 127\.0\.0\.2, but for localhost, 127\.0\.0\.1/,
    advice: /IP:127\.0\.0\.2 in its subjectAltName/
  })
})

function privateData(t: Test): string {
  const data = join(t.testdir(), 'data')
  mkdirSync(data, { mode: 0o700 })
  return data
}

async function states(options: GivenOptions): Promise<Record<string, Finding['state']>> {
  const findings = await examine(completeOptions(options), Date.now)
  for (const { state, advice, of } of findings) t.equal(advice === undefined, state === 'ok', `${of} has advice when it is not well`)
  return Object.fromEntries(findings.map(({ of, state }) => [of, state]))
}
