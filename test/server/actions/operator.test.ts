import { join } from 'node:path'
import t from 'tap'
import { askServer } from '../../../lib/server/control/ask.ts'
import { createServer } from '../../../lib/server/create.ts'
import { openStore } from '../../../lib/store/open.ts'
import { startServer } from '../../kit/server.ts'

t.test('a store without its own files is served, and backing it up is rejected in one sentence', async t => {
  const data = t.testdir()
  const { safekeeping, ...store } = await openStore('sqlite:afield.db', {
    dataDirectory: join(data, 'store'),
    onBroken: reason => t.error(reason)
  })
  t.ok(safekeeping)
  t.teardown(() => store.close())
  const sentence = { message: 'This store cannot be copied into a file; back it up with the tools of its database.' }
  const takeBackup = async () => {}
  await t.rejects(createServer({ data, port: 0, store, backupEvery: 1, takeBackup, logLevel: 'silent' }), { ...sentence, exitCode: 78 })

  const metricsToken = 'a token for metrics'
  const server = await startServer(t, { store, metricsToken })
  t.match(await (await fetch(`${server.url}/health`)).json(), { status: 'ok' })
  const asked = { data: server.data, store: 'sqlite:afield.db' }
  const status = await askServer(asked, 'readStatus', {})
  t.match(status, { hasAccounts: false })
  t.equal(status.soundness, undefined)
  await t.rejects(askServer(asked, 'copyStore', {}), sentence)
  const metrics = await (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })).text()
  t.notMatch(metrics, /afield_rows_damaged/)
})
