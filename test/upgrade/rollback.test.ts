import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { hasLocalSockets } from '../../lib/local-socket/address.ts'
import { openLocalSocket } from '../../lib/local-socket/open.ts'
import { controlFile } from '../../lib/server/control/socket.ts'
import { openStore, readNeededSchema } from '../../lib/store/open.ts'
import { goBack } from '../../lib/upgrade/rollback.ts'
import type { Supervisor } from '../../lib/upgrade/supervisor.ts'
import { newAccount } from '../store/contract/kit.ts'

const store = 'sqlite:afield.db'
const options = { skip: hasLocalSockets ? false : 'the programs are scripts, and servers are asked through local sockets' }

t.test('a previous program that can read the database is put back, and the server restarted [V5]', options, async t => {
  const world = await worldOf(t)
  const { supervisor, done } = world.supervisor('0.1.0')
  t.strictSame(await world.back({ supervisor }), { version: '0.1.0', copy: undefined })
  t.strictSame(done, ['restart'])
  t.strictSame(world.told, ['trying the previous program', 'restarting a.service'])
  t.strictSame(world.programs(), ['afield'])
  t.match(readFileSync(world.file, 'utf8'), 'previous')
})

t.test('without a server nothing is restarted', options, async t => {
  const world = await worldOf(t)
  t.strictSame(await world.back(), { version: '0.1.0', copy: undefined })
  t.strictSame(world.told, ['trying the previous program'])
  t.strictSame(world.programs(), ['afield'])
  await t.rejects(world.back(), { name: 'CannotStart', message: `There is no previous version: ${world.file}.previous does not exist.` })
})

t.test('without a database only the program goes back', options, async t => {
  const world = await worldOf(t, { schemaBelow: 1, hasData: false })
  t.strictSame(await world.back(), { version: '0.1.0', copy: undefined })
})

t.test('a previous program that cannot read the database gets the one from before the upgrade [V6]', options, async t => {
  const world = await worldOf(t, { schemaBelow: 1 })
  const copy = world.copyBefore()
  const { supervisor, done } = world.supervisor('0.1.0')
  t.strictSame(await world.back({ supervisor }), { version: '0.1.0', copy })
  t.strictSame(done, ['stop', 'start'])
  t.strictSame(world.told, ['trying the previous program', 'restoring the database from before the upgrade'])
  t.strictSame(world.asked(), ['trial-start', `restore ${copy} --force --data ${world.data} --store ${store}`])
  t.strictSame(world.programs(), ['afield'])

  const alone = await worldOf(t, { schemaBelow: 1 })
  t.match(await alone.back(), { version: '0.1.0', copy: alone.copyBefore() })
})

t.test('nothing goes back while a server uses the database that would go back too [V6]', options, async t => {
  const world = await worldOf(t, { schemaBelow: 1 })
  world.copyBefore()
  const { supervisor } = world.supervisor('0.2.0')
  await supervisor.start()
  await t.rejects(world.back(), { name: 'CannotStart', message: `Stop the server first (process 7): its database goes back too.` })
  t.strictSame(world.programs(), ['afield', 'afield.previous'])
})

t.test('without a copy, nothing goes back, and the newer server serves again [V6]', options, async t => {
  const world = await worldOf(t, { schemaBelow: 1, hasCopy: false })
  const { supervisor, done } = world.supervisor('0.2.0')
  const schema = (await readNeededSchema(store, world.data)) ?? 0
  const message = `Version 0.1.0 cannot read the database (schema ${schema}, it knows ${schema - 1}), and there is no copy from before the upgrade. Restore a backup from then with the previous program.`
  await t.rejects(world.back({ supervisor }), { name: 'CannotStart', message })
  t.strictSame(done, ['stop', 'start'])
  t.strictSame(world.programs(), ['afield', 'afield.previous'])
})

t.test('what was stored since is named, and only moved aside when that is allowed [V6]', options, async t => {
  const world = await worldOf(t, { schemaBelow: 1 })
  const copy = world.copyBefore()
  await world.signUpSince()
  const message =
    /^Version 0\.1\.0 needs the database from before the upgrade, and since then this was stored or changed \(rows\): account 1(, [a-z ]+ \d+)*\. Nothing was changed\. To go back without that, give --discard-newer-data; the newer database is then moved aside\.$/
  await t.rejects(world.back(), { name: 'CannotStart', message })
  t.strictSame(world.asked(), ['trial-start'])
  t.match(await world.back({ mayDiscard: true }), { copy })
})

t.test('a restore that fails says why, and the newer server serves again [V6]', options, async t => {
  for (const [fault, message] of [
    ['echo first >&2; echo The copy is damaged. >&2; echo >&2; exit 4', 'The copy is damaged.'],
    ['exit 4', 'The previous program exited with 4.']
  ] as const) {
    const world = await worldOf(t, { schemaBelow: 1, fault })
    const { supervisor, done } = world.supervisor('0.2.0')
    world.copyBefore()
    await t.rejects(world.back({ supervisor }), { name: 'CannotStart', message, exitCode: 75 })
    t.strictSame(done, ['stop', 'start'])
    t.strictSame(world.programs(), ['afield', 'afield.previous'])
  }
})

interface World {
  /** By how many steps the previous program knows less than the database has. */
  schemaBelow?: number
  hasData?: boolean
  hasCopy?: boolean
  /** What the previous program does instead of restoring. */
  fault?: string
}

async function worldOf(t: Test, { schemaBelow = 0, hasData = true, hasCopy = true, fault = '' }: World = {}) {
  const place = mkdtempSync(join(existsSync(t.testdirName) ? t.testdirName : t.testdir(), 'world-'))
  const [data, bin] = [join(place, 'data'), join(place, 'bin')]
  for (const folder of [data, bin]) mkdirSync(folder, { recursive: true })
  const open = () => openStore(store, { dataDirectory: data, onBroken: ({ message }) => t.fail(message) })
  if (hasData) await (await open()).close()
  const schema = ((await readNeededSchema(store, data)) ?? 1) - schemaBelow
  const copy = join(data, `before-schema-${schema}.db`)
  if (hasData && hasCopy && schemaBelow > 0) copyFileSync(join(data, 'afield.db'), copy)
  const file = join(bin, 'afield')
  writeFileSync(file, 'the newer program')
  const previous = `#!/bin/sh
# previous
echo "$@" >> ${place}/asked
[ "$1" = trial-start ] && echo '{"version":"0.1.0","schema":${schema}}' && exit
${fault}
exit 0
`
  writeFileSync(`${file}.previous`, previous)
  chmodSync(`${file}.previous`, 0o755)
  const told: string[] = []
  return {
    data,
    file,
    told,
    copyBefore: () => copy,
    programs: () => readdirSync(bin).toSorted(),
    asked: () => readFileSync(join(place, 'asked'), 'utf8').trim().split('\n'),
    async signUpSince() {
      const store = await open()
      await newAccount(store, 'since')
      await store.close()
    },
    back: (more: { supervisor?: Supervisor; mayDiscard?: boolean } = {}) =>
      goBack({
        file,
        options: { data, store },
        supervisor: undefined,
        mayDiscard: false,
        tell: step => told.push(step),
        signal: new AbortController().signal,
        ...more
      }),
    /** Of a server that says it is ready and of that version, once it was started. */
    supervisor(of: string) {
      const done: string[] = []
      let socket: { close(): Promise<void> } | undefined
      const start = async () => {
        socket = await openLocalSocket({
          directory: data,
          file: controlFile,
          answer: async () => ({ version: of, pid: 7, hasAccounts: true, serving: { url: 'http://127.0.0.1:1', signup: 'own' } }),
          refusalOf: error => ({ says: String(error), exitCode: 1 }),
          onError: error => t.fail(String(error))
        })
      }
      const stop = async () => {
        await socket?.close()
        socket = undefined
      }
      t.teardown(stop)
      const noting = (name: string, act: () => Promise<void>) => () => {
        done.push(name)
        return act()
      }
      const restart = async () => {
        await stop()
        await start()
      }
      const supervisor: Supervisor = {
        name: 'a.service',
        start: noting('start', start),
        stop: noting('stop', stop),
        restart: noting('restart', restart)
      }
      return { supervisor, done }
    }
  }
}
