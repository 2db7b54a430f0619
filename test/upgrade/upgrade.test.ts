import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { readMigrations } from '../../lib/store/migrate.ts'
import { openStore, readNeededSchema } from '../../lib/store/open.ts'
import { manifestName, signatureName } from '../../lib/upgrade/manifest.ts'
import { goBack } from '../../lib/upgrade/rollback.ts'
import { becomesReady, findServer } from '../../lib/upgrade/running-server.ts'
import type { Supervisor } from '../../lib/upgrade/supervisor.ts'
import { upgradeProgram } from '../../lib/upgrade/upgrade.ts'
import { draft, newAccount, newSession, readAll } from '../store/contract/kit.ts'
import { install, now, program, publish, releaseKey, TestSupervisor } from './kit.ts'

const key = releaseKey()
const current = program({ version: '0.1.0' })
const newer = program({ version: '0.2.0' })
const schema = readMigrations('sqlite/').length
const step = 'CREATE TABLE later (account INTEGER, x TEXT) STRICT; ALTER TABLE session ADD COLUMN later INTEGER;'
const quick = { skip: process.platform === 'win32' ? 'the programs of these tests are scripts' : false }

t.test('a server that a service manager runs is upgraded, and can go back [V3] [V5]', quick, async t => {
  const world = await startWorld(t)
  const folder = publish(join(world.place, 'release'), { version: '0.2.0', bytes: newer, key })
  t.match(await world.upgrade(folder), { type: 'restarted', version: '0.2.0', service: 'afield.service' })
  t.match(await findServer(world.data), { version: '0.2.0', isListening: true })
  t.same(world.installed(), { afield: '0.2.0', 'afield.previous': '0.1.0' })
  t.equal(statSync(world.file).mode & 0o777, 0o755)
  t.match(await world.upgrade(folder, { version: '0.2.0' }), { type: 'current' })

  t.same(await world.back(), { version: '0.1.0', copy: undefined })
  t.match(await findServer(world.data), { version: '0.1.0', isListening: true })
  t.same(world.installed(), { afield: '0.1.0' })
  await t.rejects(world.back(), { message: /There is no previous version/ })
})

t.test('an upgrade that was killed before it restarted the server is completed by the next [V3]', quick, async t => {
  const world = await startWorld(t)
  const folder = publish(join(world.place, 'release'), { version: '0.2.0', bytes: newer, key })
  await world.upgrade(folder, { supervisorOf: async () => undefined, hasTrial: false })
  t.match(await world.upgrade(folder, { version: '0.2.0', supervisorOf: async () => undefined }), {
    type: 'installed',
    others: [world.supervisor.pid]
  })
  t.match(await findServer(world.data), { version: '0.1.0' })
  t.match(await world.upgrade(folder, { version: '0.2.0' }), { type: 'restarted', version: '0.2.0' })
  t.match(await findServer(world.data), { version: '0.2.0', isListening: true })
  t.same(world.installed(), { afield: '0.2.0', 'afield.previous': '0.1.0' })
})

t.test('without a server, or with one in a terminal, the program is replaced and the server left alone [V3]', quick, async t => {
  const world = await startWorld(t)
  const folder = publish(join(world.place, 'release'), { version: '0.2.0', bytes: newer, key })
  const pid = world.supervisor.pid
  t.match(await world.upgrade(join(folder, readdirSync(folder)[0] ?? ''), { supervisorOf: async () => undefined, hasTrial: false }), {
    type: 'installed',
    others: [pid]
  })
  t.match(await findServer(world.data), { version: '0.1.0', pid })
  t.same(world.installed(), { afield: '0.2.0', 'afield.previous': '0.1.0' })
})

t.test('nothing else than a whole, signed, valid and newer release is installed [V1]', quick, async t => {
  const place = t.testdir({ data: {} })
  const file = install(join(place, 'bin'), current)
  const good = { version: '0.2.0', bytes: newer, key }
  const truncated = newer.subarray(0, newer.length - 10)
  const changed = Buffer.from(newer.toString().replace("'broken'", "'brOken'"))
  const name = (folder: string) => join(folder, readdirSync(folder).find(name => name.startsWith('afield-')) ?? '')
  const rewritten = (folder: string, bytes: Buffer) => {
    writeFileSync(name(publish(folder, good)), bytes)
    return folder
  }
  const rewrite = (folder: string, name: string, change: (text: string) => string) => {
    writeFileSync(join(folder, name), change(readFileSync(join(folder, name), 'utf8')))
    return folder
  }
  const cases: [string, (folder: string) => string, RegExp][] = [
    ['another key', folder => publish(folder, { ...good, key: releaseKey() }), /signed with another key/],
    [
      'a changed manifest',
      folder => rewrite(publish(folder, good), manifestName, text => text.replace('0.2.0', '0.3.0')),
      /signature of latest\.json .* not valid/
    ],
    ['no signature', folder => rewrite(publish(folder, good), signatureName, () => ''), /not valid/],
    ['an older version', folder => publish(folder, { ...good, version: '0.0.9' }), /version 0\.0\.9, older than this 0\.1\.0/],
    [
      'an expired release',
      folder => publish(folder, { ...good, manifest: { expiresAt: new Date(now).toISOString() } }),
      /expired on 2030-01-02/
    ],
    ['another platform', folder => publish(folder, { ...good, file: { platform: 'win-arm64' } }), /no program for/],
    ['a truncated program', folder => rewritten(folder, truncated), /incomplete: \d+ of \d+ bytes/],
    ['a changed program', folder => rewritten(folder, changed), /not the file that was signed/],
    ['a longer program', folder => rewritten(folder, Buffer.concat([newer, newer])), /larger than its release says/],
    [
      'a manifest of later times',
      folder => publish(folder, { ...good, manifest: { files: 'elsewhere' } }),
      /cannot read it: install the new version by hand/
    ],
    ['a path in place of a name', folder => publish(folder, { ...good, file: { name: '../afield' } }), /cannot read it/],
    [
      'a program of another version',
      folder => publish(folder, { ...good, bytes: program({ version: '0.3.0' }) }),
      /says it is version 0\.3\.0, its release 0\.2\.0/
    ],
    [
      'a program that does not start',
      folder => publish(folder, { ...good, bytes: program({ version: '0.2.0', isBroken: true }) }),
      /does not work here: Error: broken\. Nothing/
    ],
    ['nothing', folder => mkdirSync(folder, { recursive: true }) ?? folder, /There is no latest\.json in/],
    ['no folder', folder => folder, /does not exist/],
    ['an impossible name', () => join(place, 'a'.repeat(300)), /cannot be read by this user/]
  ]
  for (const [what, make, says] of cases) {
    const source = make(join(place, what.replaceAll(' ', '-')))
    await t.rejects(upgradeProgram(askFor({ file, data: join(place, 'data'), source })), { name: 'CannotStart', message: says }, what)
    t.same(readdirSync(join(place, 'bin')), ['afield'], what)
    t.ok(readFileSync(file).equals(current), what)
  }
})

t.test('a release is read from an address, and an interrupted download changes nothing [V1]', quick, async t => {
  const place = t.testdir({ data: {} })
  const file = install(join(place, 'bin'), current)
  const folder = publish(join(place, 'release'), { version: '0.2.0', bytes: newer, key })
  let cutAfter = 100
  const server = createServer(({ url = '' }, response) => {
    const name = /^\/some\/where\/([\w.-]+)$/.exec(url)?.[1]
    if (name === undefined || !readdirSync(folder).includes(name)) return response.writeHead(404).end()
    const bytes = readFileSync(join(folder, name))
    response.writeHead(200, { 'content-length': bytes.length })
    if (!name.startsWith('afield-') || cutAfter === 0) return response.end(bytes)
    return response.write(bytes.subarray(0, cutAfter), () => response.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const from = (source: string) => upgradeProgram(askFor({ file, data: join(place, 'data'), source }))
  await t.rejects(from(`${base}/some/where`), { message: /could not be read or written .*Nothing was changed/ })
  await t.rejects(from(`${base}/else/where/`), { message: /There is no latest\.json in/ })
  await t.rejects(from('http://127.0.0.1:1/'), { message: /cannot be reached \(/ })
  await t.rejects(from(base.replace('//', '//ann:secret@')), { message: /must have no user name, no password/ })
  t.same(readdirSync(join(place, 'bin')), ['afield'])
  cutAfter = 0
  t.match(await from(`${base}/some/where/latest.json`), { type: 'installed', version: '0.2.0', others: [] })
  t.ok(readFileSync(file).equals(newer))
})

t.test('an upgrade that is stopped while it writes leaves nothing', quick, async t => {
  const place = t.testdir({ data: {} })
  const file = install(join(place, 'bin'), current)
  const source = publish(join(place, 'release'), { version: '0.2.0', bytes: newer, key })
  const stopping = new AbortController()
  const tell = (step: string) => step.startsWith('writing') && stopping.abort(new Error('Stopped.'))
  await t.rejects(upgradeProgram({ ...askFor({ file, data: join(place, 'data'), source }), tell, signal: stopping.signal }), {
    message: 'Stopped.'
  })
  t.same(readdirSync(join(place, 'bin')), ['afield'])
})

t.test('a new version that is not ready in time goes back by itself, with the database that it had upgraded [V5] [V6]', quick, async t => {
  const world = await startWorld(t)
  const bytes = program({ version: '0.2.0', step, fault: 'ends' })
  const folder = publish(join(world.place, 'release'), { version: '0.2.0', bytes, key })
  await t.rejects(world.upgrade(folder, { readyWithinMs: 1000, hasTrial: false }), {
    message: /^Version 0\.2\.0 was not ready within \d+ s\. Version 0\.1\.0 is back in place and serves again\./
  })
  t.same(world.installed(), { afield: '0.1.0' })
  t.match(await findServer(world.data), { version: '0.1.0', isListening: true })
  t.equal(await readNeededSchema('sqlite:afield.db', world.data), schema)
  await world.supervisor.stop()
  t.same(await world.said(), ['hello'])
})

t.test('a new version that cannot be restarted is replaced by the previous one at once [V5]', quick, async t => {
  const world = await startWorld(t)
  const folder = publish(join(world.place, 'release'), { version: '0.2.0', bytes: newer, key })
  const { supervisor } = world
  let restarts = 0
  const failing: Supervisor = {
    name: supervisor.name,
    start: () => supervisor.start(),
    stop: () => supervisor.stop(),
    async restart() {
      await supervisor.stop()
      restarts += 1
      if (restarts === 1) throw new Error('systemctl could not restart it')
      await supervisor.start()
    }
  }
  await t.rejects(world.upgrade(folder, { supervisorOf: async () => failing, hasTrial: false }), {
    message: /^systemctl could not restart it\. Version 0\.1\.0 is back in place and serves again\./
  })
  t.same(world.installed(), { afield: '0.1.0' })
  t.match(await findServer(world.data), { version: '0.1.0', isListening: true })
})

t.test('a new version that stored something before it failed stays, and is not gone back over by itself [V5] [V6]', quick, async t => {
  const world = await startWorld(t)
  const bytes = program({ version: '0.2.0', step: `${step} INSERT INTO later VALUES (1, 'acknowledged');`, fault: 'ends' })
  const folder = publish(join(world.place, 'release'), { version: '0.2.0', bytes, key })
  await t.rejects(world.upgrade(folder, { readyWithinMs: 1000, hasTrial: false }), {
    message:
      /^Version 0\.2\.0 was not ready .* needs the database from before .* \(rows\): later 1\. Nothing was changed\..*--discard-newer-data/
  })
  t.same(world.installed(), { afield: '0.2.0', 'afield.previous': '0.1.0' })
  await world.supervisor.stop()
  t.equal(await readNeededSchema('sqlite:afield.db', world.data), schema + 1)
})

t.test('nobody goes back over acknowledged data without being told, and then it is moved aside [V6]', quick, async t => {
  const world = await startWorld(t)
  const folder = publish(join(world.place, 'release'), { version: '0.2.0', bytes: program({ version: '0.2.0', step }), key })
  await world.upgrade(folder, { hasTrial: false })
  await world.supervisor.stop()
  t.equal(await readNeededSchema('sqlite:afield.db', world.data), schema + 1)
  edit(
    world.data,
    "UPDATE session SET last_seq = 2; INSERT INTO message (account, session, seq, created_at, sealed) VALUES (1, 1, 2, 1, 'acknowledged')"
  )
  await world.supervisor.start()
  t.ok(await becomesReady(world.data, '0.2.0', 60_000, () => {}))

  await t.rejects(world.back(), {
    message: /needs the database from before .* \(rows\): message 1, session 1\. Nothing was changed\..*--discard-newer-data/
  })
  t.ok(await becomesReady(world.data, '0.2.0', 60_000, () => {}), 'the newer version serves again')
  t.same(world.installed(), { afield: '0.2.0', 'afield.previous': '0.1.0' })

  t.match(await world.back({ mayDiscard: true }), { version: '0.1.0', copy: join(world.data, `before-schema-${schema}.db`) })
  t.match(await findServer(world.data), { version: '0.1.0', isListening: true })
  await world.supervisor.stop()
  t.same(await world.said(), ['hello'])
  const aside = readdirSync(world.data).find(name => /^before-\d{4}-/.test(name)) ?? ''
  t.ok(readdirSync(join(world.data, aside)).includes('afield.db'), 'the newer database')
})

t.test('nothing goes back under a server that cannot be stopped, from a damaged copy or without one [V6]', quick, async t => {
  const world = await startWorld(t)
  const folder = publish(join(world.place, 'release'), { version: '0.2.0', bytes: program({ version: '0.2.0', step }), key })
  await world.upgrade(folder, { hasTrial: false })
  const refuses = async (message: RegExp, restartedBy: Supervisor | 'nobody' = world.supervisor) => {
    await t.rejects(world.back({ restartedBy }), { message })
    t.same(world.installed(), { afield: '0.2.0', 'afield.previous': '0.1.0' }, String(message))
    t.ok(await becomesReady(world.data, '0.2.0', 60_000, () => {}), 'the newer version serves')
    t.equal(await readNeededSchema('sqlite:afield.db', world.data), schema + 1)
  }
  await refuses(/^Stop the server first \(process \d+\)/, 'nobody')

  await world.supervisor.stop()
  const copy = `before-schema-${schema}.db`
  for (const name of ['afield.db', copy]) edit(world.data, "UPDATE message SET sealed = 'Hello'", name)
  await world.supervisor.start()
  await refuses(/damaged/)
  rmSync(join(world.data, copy))
  await refuses(/there is no copy from before the upgrade/)
})

/** A server of the current version with a message, run by a service manager. */
async function startWorld(t: Test) {
  const place = t.testdir({ data: {} })
  const data = join(place, 'data')
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  await store.appendMessages(ann, session, [draft('hello')], 1)
  await store.close()
  const file = install(join(place, 'bin'), current)
  const supervisor = new TestSupervisor(t, file, data)
  await supervisor.start()
  t.ok(await becomesReady(data, '0.1.0', 60_000, () => {}))
  const supervisorOf = async (pid: number) => (pid === supervisor.pid ? supervisor : undefined)
  return {
    place,
    data,
    file,
    supervisor,
    upgrade: (source: string, more: object = {}) => upgradeProgram({ ...askFor({ file, data, source }), supervisorOf, ...more }),
    back: ({ mayDiscard = false, restartedBy = supervisor }: { mayDiscard?: boolean; restartedBy?: Supervisor | 'nobody' } = {}) =>
      goBack({
        file,
        options: { data, store: 'sqlite:afield.db' },
        supervisor: restartedBy === 'nobody' ? undefined : restartedBy,
        mayDiscard,
        tell() {},
        signal: new AbortController().signal
      }),
    /** Each file beside the program, with the version it says it is. */
    installed: () =>
      Object.fromEntries(
        readdirSync(join(place, 'bin')).map(name => [name, /version: "([\d.]+)"/.exec(readFileSync(join(place, 'bin', name), 'utf8'))?.[1]])
      ),
    async said() {
      const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
      const all = (await readAll(store, ann, session)).map(({ sealed }) => sealed)
      await store.close()
      return all
    }
  }
}

function askFor({ file, data, source }: { file: string; data: string; source: string }) {
  return {
    source,
    keys: key.pub,
    file,
    version: '0.1.0',
    options: { data, store: 'sqlite:afield.db' },
    hasTrial: true,
    readyWithinMs: 60_000,
    supervisorOf: async () => undefined,
    now,
    tell() {},
    signal: new AbortController().signal
  }
}

function edit(data: string, sql: string, name = 'afield.db'): void {
  const database = new Database(join(data, name))
  database.exec(sql)
  database.close()
}
