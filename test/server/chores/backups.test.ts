import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Backups, type TakeBackup } from '../../../lib/server/chores/backups.ts'
import { createServer } from '../../../lib/server/create.ts'
import type { Logger } from '../../../lib/server/watch/log.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { call } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'

const hour = 60 * 60 * 1000
const noon = Date.parse('2026-03-01T12:00:00Z')

t.test('a backup is taken whenever due, and the oldest above the limit are removed [K2]', async t => {
  const { directory, pass, backups } = setUp(t)
  writeFileSync(join(directory, 'afield-2020-01-01T000000.backup'), 'taken by hand')
  await pass(0)
  await pass(5)
  t.same(readdirSync(directory), ['afield-2020-01-01T000000.backup', 'afield-2026-03-01T120000.auto.backup'])
  for (const hours of [1, 6]) await pass(hours)
  t.same(readdirSync(directory), [
    'afield-2020-01-01T000000.backup',
    'afield-2026-03-01T180000.auto.backup',
    'afield-2026-03-02T000000.auto.backup'
  ])
  t.same(backups.state(), { last: 'ok', goodAt: noon + 12 * hour, taken: { ok: 3, failed: 0 } })
})

t.test('a failed backup is logged once, removes nothing and is retried within the hour [K2]', async t => {
  const { directory, pass, backups, failNext, said } = setUp(t)
  await pass(0)
  failNext()
  await pass(6)
  t.same(backups.state(), { last: 'failed', goodAt: noon, taken: { ok: 1, failed: 1 } })
  t.same(readdirSync(directory), ['afield-2026-03-01T120000.auto.backup'])
  t.match(said, [/backup failed/])
  await pass(1)
  t.same(backups.state(), { last: 'ok', goodAt: noon + 7 * hour, taken: { ok: 2, failed: 1 } })
})

t.test('a restarted server keeps its schedule, and a clock set back delays nothing [K2, C1]', async t => {
  const files = { 'afield-2026-03-01T070000.auto.backup': '' }
  const { pass, backups } = setUp(t, { files })
  t.match(backups.state(), { last: 'ok', goodAt: noon - 5 * hour })
  await pass(1)
  t.match(backups.state(), { taken: { ok: 1 } })

  const ahead = setUp(t, { files: { 'afield-2036-03-01T070000.auto.backup': '' } })
  await ahead.pass(6)
  t.match(ahead.backups.state(), { taken: { ok: 1 } })
})

t.test('health reports backups and stays ok when one fails, and metrics count them [K2]', async t => {
  const clock = manualClock()
  const taken = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let number = 0
  const take: TakeBackup = async () => taken[number++]?.promise
  const metricsToken = 'the-token-of-a-monitor'
  const server = await startServer(t, { clock, now: () => noon, backupEvery: 6, takeBackup: take, metricsToken })
  const metrics = async () => (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })).text()
  t.match(await call(server, 'GET', '/health'), { status: 200, body: { backup: { last: 'none', goodAt: null } } })
  clock.advance(6 * hour)
  taken[0]?.resolve()
  await settled()
  t.match(await call(server, 'GET', '/health'), { body: { backup: { last: 'ok', goodAt: '2026-03-01T12:00:00.000Z' } } })
  clock.advance(6 * hour)
  taken[1]?.reject(new Error('no room'))
  await settled()
  t.match(await call(server, 'GET', '/health'), { status: 200, body: { status: 'ok', backup: { last: 'failed' } } })
  const text = await metrics()
  for (const line of [
    'afield_backups_ok_total 1',
    'afield_backups_failed_total 1',
    `afield_backup_last_good_time_seconds ${noon / 1000}`
  ]) {
    t.match(text, line)
  }
  t.match(text, /^afield_rows_damaged 0$/m)
})

t.test('scheduled backups without takeBackup fail the start with a reason [K2]', async t => {
  await t.rejects(createServer({ data: t.testdir(), port: 0, backupEvery: 1 }), { message: /takeBackup/, exitCode: 78 })
  const server = await startServer(t)
  t.equal((await call(server, 'GET', '/health')).body.backup, undefined)
})

function setUp(t: Test, { files = {} }: { files?: Record<string, string> } = {}) {
  const directory = t.testdir(files)
  const clock = manualClock()
  const said: string[] = []
  const silent = () => {}
  const log: Logger = {
    error: (_, message) => void said.push(message),
    warn: silent,
    info: silent,
    debug: silent,
    isLevelEnabled: () => true
  }
  let fails = false
  const take: TakeBackup = async file => {
    if (fails) {
      fails = false
      throw new Error('no room')
    }
    writeFileSync(file, 'a backup')
  }
  const backups = new Backups({ clock, now: () => noon + clock.now(), log, take }, { everyMs: 6 * hour, keep: 2, directory })
  t.teardown(() => backups.close())
  return {
    directory,
    backups,
    said,
    failNext: () => {
      fails = true
    },
    async pass(hours: number) {
      clock.advance(hours * hour)
      await settled()
    }
  }
}

function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
