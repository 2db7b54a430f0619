import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type AccountId, artifactId, type Sealed } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { openStore } from '../../lib/store/open.ts'
import type { Store } from '../../lib/store/store.ts'
import { draft, newAccount, newSession, sealed } from '../store/contract/kit.ts'

const mib = 1024 * 1024

t.test('the WAL stays far smaller than what was written through it [F7]', async t => {
  const dataDirectory = t.testdir()
  const store = await openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.fail(reason.message) })
  t.teardown(() => store.close())
  const ann = await newAccount(store, 'ann')
  const session = await newSession(store, ann)
  const large = 'x'.repeat(mib)
  let most = 0
  for (let written = 0; written < 120; written += 1) {
    await store.appendMessages(ann, session, [draft(large)], 1)
    most = Math.max(most, statSync(join(dataDirectory, 'afield.db-wal')).size)
  }
  t.ok(statSync(join(dataDirectory, 'afield.db')).size > 60 * mib)
  t.ok(most < 32 * mib, `${Math.round(most / mib)} MiB at most`)
})

t.test('a large document, and large settings, are written to disk once, with their checksum', async t => {
  const large = sealed('x'.repeat(8 * mib))
  const id = v.parse(artifactId, 'a')
  const inLog = async (
    write: (store: Store, ann: AccountId) => Promise<unknown>,
    prepare?: (store: Store, ann: AccountId) => Promise<unknown>
  ) => {
    const dataDirectory = t.testdir()
    const store = await openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.fail(reason.message) })
    const ann = await newAccount(store, 'ann')
    await prepare?.(store, ann)
    await write(store, ann)
    const { size } = statSync(join(dataDirectory, 'afield.db-wal'))
    await store.close()
    return size / large.length
  }
  const openWith = (body: Sealed) => (store: Store, ann: AccountId) =>
    store.openArtifact(ann, { id, header: sealed('h'), body, dataKey: sealed('k'), now: 1 })
  const times = {
    opened: await inLog(openWith(large)),
    written: await inLog((store, ann) => store.writeArtifact(ann, id, { body: { expected: 1, value: large } }, 2), openWith(sealed('b'))),
    settings: await inLog((store, ann) => store.writeCell(ann, { of: 'account', name: 'settings' }, 0, large, 2))
  }
  for (const [what, share] of Object.entries(times)) t.ok(share < 1.2, `${what}: ${share.toFixed(2)} times its size`)
})
