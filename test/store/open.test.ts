import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../lib/store/open.ts'

const onBroken = (reason: Error) => t.fail(reason.message)

t.test('an unknown store is rejected without repeating its password', async t => {
  for (const url of ['mysql://user:secret@host/db', 'afield.db', 'sqlite:', '']) {
    const refusal = await openStore(url, { dataDirectory: t.testdirName, onBroken }).then(
      () => undefined,
      error => error
    )
    t.match(refusal, { name: 'CannotStart', exitCode: 78, message: /use sqlite:<file> or postgres:/ }, url)
    t.notMatch(refusal?.message, /secret/)
  }
})

t.test('a relative file is in the data directory, an absolute one is used as is', async t => {
  const dataDirectory = join(t.testdir(), 'data')
  const elsewhere = join(dataDirectory, '..', 'elsewhere', 'other.db')
  for (const url of ['sqlite:afield.db', `sqlite:${elsewhere}`]) {
    const store = await openStore(url, { dataDirectory, onBroken })
    t.equal(await store.hasAccounts(), false)
    await store.close()
  }
})
