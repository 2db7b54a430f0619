import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { systemClock } from '../../../lib/async/clock.ts'
import { engine } from '../../../lib/crypto/index.ts'
import type { FailureCode } from '../../../lib/protocol/wire/failures.ts'
import { openSecurityLog, securityEvents } from '../../../lib/server/watch/security-log.ts'
import { lacks } from '../../kit/needs.ts'
import { call, signInBody, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'

const filter = join(import.meta.dirname, '..', '..', '..', 'examples', 'fail2ban', 'filter.d', 'afield.conf')

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}

/** Waits for the writing, which nobody is told of. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await sleep(5)
}

/** The lines without their time. */
async function written(file: string, count: number): Promise<string[]> {
  await until(() => linesOf(file).length >= count)
  return linesOf(file).map(line => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /, ''))
}

t.test('rejected attempts are written with the address that a trusted proxy names, and no secret', async t => {
  const securityLog = join(t.testdir(), 'security.log')
  const metricsToken = 'a-token-for-metrics'
  const server = await startServer(t, { securityLog, trustProxy: 'loopback', metricsToken, limits: 'default' })
  const headers = { 'x-forwarded-for': '2001:db8::7' }
  const ada = await signUp(t, server)
  t.notOk(linesOf(securityLog).length, 'what succeeds is not written')

  const body = await signInBody(engine.randomBytes(32))
  const other = await signInBody(engine.randomBytes(32))
  await call(server, 'POST', '/v1/auth', { body: { ...body, signature: other.signature }, headers: { 'x-forwarded-for': '192.0.2.9' } })
  await call(server, 'GET', '/v1/sessions', { token: 'secret-of-somebody', headers })
  await call(server, 'GET', `/v1/sessions?token=${ada.token}`, { headers })
  await call(server, 'GET', '/metrics', { token: 'secret', headers })
  await call(server, 'GET', '/v1/sessions', { headers })
  for (let asked = 0; asked < 6; asked++)
    await call(server, 'POST', '/v1/auth/request', { body: { publicKey: other.publicKey.replace(/^./, String(asked)) }, headers })
  const socket = await ada.connect({ token: 'secret' }).catch(error => error)
  t.ok(socket)
  const lines = await written(securityLog, 6)
  t.match(lines.slice(0, 4), [
    'sign-in-failed from 192.0.2.9, bad-signature, POST /v1/auth',
    'token-rejected from 2001:0db8:0000:0000:0000:0000:0000:0007, bad-token, GET /v1/sessions',
    'request-rejected from 2001:0db8:0000:0000:0000:0000:0000:0007, token-in-address, other',
    'token-rejected from 2001:0db8:0000:0000:0000:0000:0000:0007, bad-token, GET /metrics'
  ])
  t.ok(
    lines.some(line => /^rate-limited from 2001:0db8:\S+, too-many-requests, POST \/v1\/auth\/request$/.test(line)),
    lines.join('\n')
  )
  t.ok(
    lines.some(line => /^token-rejected from 127\.0\.0\.1, bad-token, socket$/.test(line)),
    lines.join('\n')
  )
  t.notMatch(readFileSync(securityLog, 'utf8'), new RegExp(`secret|${ada.token}|${metricsToken}`))
  t.equal(statSync(securityLog).mode & 0o777, 0o600, 'addresses are personal')
})

t.test('without the option nothing is written', async t => {
  const server = await startServer(t)
  await call(server, 'GET', '/v1/sessions', { token: 'secret' })
  t.notOk(existsSync(join(server.data, 'security.log')))
})

t.test('a file that cannot be written is named before the server starts', async t => {
  const file = join(t.testdir(), 'none', 'security.log')
  await t.rejects(startServer(t, { securityLog: file }), { message: `The security log ${file} cannot be written. ` })
})

interface Opened {
  file: string
  errors: unknown[]
  reject(code: FailureCode, address?: string): void
  close(): Promise<void>
  passTime(ms: number): void
}

/** A log whose time passes by hand. */
function open(t: Test, file: string): Opened {
  const errors: unknown[] = []
  let at = 0
  const clock = { ...systemClock, now: () => at }
  const silent = () => {}
  const log = { error: (fields: unknown) => errors.push(fields), warn: silent, info: silent, debug: silent, isLevelEnabled: () => false }
  const opened = openSecurityLog(file, { clock, now: () => 1e12 + at, log })
  t.teardown(() => opened.close())
  return {
    file,
    errors,
    reject: (code, address = '192.0.2.1') => opened.rejected({ address, route: 'POST /v1/auth', code }),
    close: () => opened.close(),
    passTime(ms) {
      at += ms
    }
  }
}

t.test('a flood is cut to some lines a second, and says how much was left out; other addresses are still heard', async t => {
  const log = open(t, join(t.testdir(), 'log'))
  for (let sent = 0; sent < 100_000; sent++) log.reject('bad-token')
  log.reject('bad-signature', '192.0.2.2')
  t.match((await written(log.file, 21)).at(-1), 'sign-in-failed from 192.0.2.2')
  for (let sent = 0; sent < 100_000; sent++) log.reject('bad-token', `10.0.${(sent >> 8) & 255}.${sent & 255}`)
  t.equal((await written(log.file, 200)).length, 200)
  log.passTime(1000)
  log.reject('bad-token')
  t.match((await written(log.file, 202)).slice(200), [/^omitted \d+ events, which were too many$/, /^token-rejected from 192\.0\.2\.1/])
})

t.test('what has nothing to do with security is not written, nor is anything once the log is closed', async t => {
  const log = open(t, join(t.testdir(), 'log'))
  log.reject('session-not-found')
  log.reject('bad-token', '')
  const closing = log.close()
  log.reject('bad-token')
  await Promise.all([closing, log.close()])
  t.same(linesOf(log.file), ['2001-09-09T01:46:40.000Z token-rejected from -, bad-token, POST /v1/auth'])
  t.equal(statSync(log.file).mode & 0o777, 0o600)
})

t.test('after a second each address may be written about again, and nothing was left out', async t => {
  const log = open(t, join(t.testdir(), 'log'))
  log.passTime(5_000)
  for (let sent = 0; sent < 20; sent++) log.reject('bad-token')
  log.passTime(1_000)
  for (let sent = 0; sent < 20; sent++) log.reject('bad-token')
  log.passTime(999)
  log.reject('bad-token')
  await log.close()
  t.equal(linesOf(log.file).length, 40)
  t.notOk(linesOf(log.file).some(line => line.includes('omitted')))
})

t.test('a failure is logged again once a write has succeeded in between', { skip: !existsSync('/dev/full') && 'no /dev/full' }, async t => {
  const file = join(t.testdir(), 'log')
  symlinkSync('/dev/full', file)
  const log = open(t, file)
  const failAgain = async (count: number) => {
    await until(() => {
      log.passTime(1000)
      log.reject('bad-token')
      return log.errors.length >= count
    })
  }
  await failAgain(1)
  rmSync(file)
  await until(() => {
    log.passTime(1000)
    log.reject('bad-signature')
    return linesOf(file).some(line => line.includes('sign-in-failed'))
  })
  renameSync(file, `${file}.1`)
  symlinkSync('/dev/full', file)
  await failAgain(2)
  t.match(log.errors, [{ error: { code: 'ENOSPC' } }, { error: { code: 'ENOSPC' } }])
  await log.close()
})

t.test('after the file is moved away by logrotate, a new one is written', async t => {
  const log = open(t, join(t.testdir(), 'log'))
  log.reject('bad-token')
  await written(log.file, 1)
  renameSync(log.file, `${log.file}.1`)
  await until(() => existsSync(log.file))
  await until(() => {
    log.passTime(1000)
    log.reject('bad-signature')
    return linesOf(log.file).length > 0
  })
  t.match(linesOf(log.file)[0], 'sign-in-failed')
  t.match(linesOf(`${log.file}.1`)[0], 'token-rejected')
})

t.test(
  'a full disk stops neither the server nor, once there is room, the log',
  { skip: !existsSync('/dev/full') && 'no /dev/full' },
  async t => {
    const file = join(t.testdir(), 'log')
    symlinkSync('/dev/full', file)
    const log = open(t, file)
    for (let second = 0; second < 50; second++) {
      log.passTime(1000)
      for (let sent = 0; sent < 200; sent++) log.reject('bad-token', `192.0.2.${sent}`)
    }
    await until(() => log.errors.length > 0)
    t.match(log.errors, [{ error: { code: 'ENOSPC' } }], 'it is logged once')
    rmSync(file)
    // Also what had to be left out is counted.
    await until(() => {
      log.passTime(1000)
      log.reject('bad-signature')
      return linesOf(file).some(line => /omitted \d+ events/.test(line))
    })
    const lines = await written(file, 100)
    t.ok(lines.length > 1000, 'what waited is written')
    t.notOk(
      lines.some(line => !/^(?:[a-z-]+ from 192\.0\.2\.\d+, [a-z-]+, POST \/v1\/auth|omitted \d+ events, which were too many)$/.test(line))
    )
    await log.close()
  }
)

t.test('fail2ban finds guesses with their address, and in aggressive mode everything', { skip: lacks('fail2ban') }, async t => {
  const directory = t.testdir()
  const log = open(t, join(directory, 'log'))
  const codes = Object.keys(securityEvents) as FailureCode[]
  for (const [index, code] of codes.entries())
    log.reject(code, index % 2 === 0 ? `192.0.2.${index}` : `2001:0db8:0000:0000:0000:0000:0000:${String(index).padStart(4, '0')}`)
  await log.close()
  const lines = linesOf(log.file)
  t.equal(lines.length, codes.length)
  writeFileSync(
    log.file,
    [...lines, lines[0]?.replace('from', 'omitted'), '2026-01-01T00:00:00.000Z omitted 5 events, which were too many', ''].join('\n')
  )
  const found = (mode: string) => {
    const { stdout } = spawnSync('fail2ban-regex', ['--out', 'ip', log.file, `${filter}[mode=${mode}]`], { encoding: 'utf8' })
    return stdout.trim().split('\n')
  }
  const isGuess = (code: FailureCode) => /^(?:sign-in|token|sign-up|pairing)-/.test(securityEvents[code] ?? '')
  const guesses = found('normal')
  t.equal(guesses.length, codes.filter(isGuess).length)
  t.strictSame(guesses.slice(0, 2), ['192.0.2.0', '2001:db8::1'])
  t.equal(found('aggressive').length, codes.length)
})
