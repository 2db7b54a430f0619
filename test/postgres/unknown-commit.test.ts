import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import t, { type Test } from 'tap'
import { openLocalBus } from '../../lib/bus/local.ts'
import type { ServerSetup } from '../../lib/server/create.ts'
import { openStore } from '../../lib/store/open.ts'
import { StoreBusy } from '../../lib/store/store.ts'
import { next, signUp, type Untyped } from '../kit/person.ts'
import { lacksPostgres, type Postgres, startPostgres } from '../kit/postgres.ts'
import { startServer } from '../kit/server.ts'
import { openTcpProxy } from '../kit/tcp-proxy.ts'

t.test('a message whose commit was not confirmed reaches clients of a single instance too [M2]', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)

  await t.test('when the server opened the store', t => breaksInCommit(t, postgres, url => ({ store: url })))

  await t.test('when it was given the store and a bus', t =>
    breaksInCommit(t, postgres, async url => {
      const onBroken = (error: unknown) => t.error(error)
      const store = await openStore(url, { dataDirectory: t.testdir({ lock: {}, own: {} }), onBroken })
      t.teardown(() => store.close())
      return { store, bus: openLocalBus({ onError: onBroken }), data: `${t.testdirName}/own`, onEvent() {} }
    })
  )
})

async function breaksInCommit(t: Test, postgres: Postgres, setup: (url: string) => ServerSetup | Promise<ServerSetup>): Promise<void> {
  const url = await postgres.makeDatabase()
  const proxy = await openTcpProxy(t, url)
  // What else writes meanwhile may have to wait too long.
  const onError = (error: unknown) => error instanceof StoreBusy || t.error(error)
  const server = await startServer(t, {
    onError,
    ...(await setup(`postgres://afield@127.0.0.1:${new URL(proxy.url).port}/${basename(url)}`))
  })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await ada.connect()
  const told = next(app, 'update', ({ body }: Untyped) => body.message?.localId === 'unconfirmed')

  // A commit is on disk, and waits for a replica that does not exist, when the connection breaks.
  const set = async (setting: string) => {
    await postgres.query(setting)
    await postgres.query('SELECT pg_reload_conf()')
  }
  await set("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
  // It reaches the processes of the database one after the other.
  const isInForce = async () => (await postgres.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).length > 0
  const probes: Promise<unknown>[] = []
  while (!(await isInForce())) probes.push(postgres.query(`CREATE TABLE "${randomUUID()}" ()`))
  const sending = ada.send(session, { localId: 'unconfirmed' })
  const waits = "SELECT FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE wait_event = 'SyncRep' AND relation = 'message'::regclass"
  while ((await postgres.query(waits, basename(url))).length === 0);
  proxy.cut()
  t.equal((await sending).status, 503)
  await set('ALTER SYSTEM RESET synchronous_standby_names')

  t.match(await told, { body: { t: 'new-message', sid: session, message: { seq: 1 } } })
  t.ok(app.connected)
  await Promise.all(probes)
}
