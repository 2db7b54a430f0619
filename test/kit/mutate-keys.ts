import { accountId, kvKey } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { openStore } from '../../lib/store/open.ts'
import { sealed } from '../store/contract/kit.ts'

// Writes the same 40 keys repeatedly, all in one change each time, in a process that a test kills meanwhile.
const store = await openStore('sqlite:afield.db', { dataDirectory: process.argv[2] ?? '', onBroken: reason => console.error(reason) })
const ann = v.parse(accountId, 'account-ann')
for (let round = 0; round < 5; round++) {
  const mutations = Array.from({ length: 40 }, (_, index) => ({
    key: v.parse(kvKey, `key-${index}`),
    value: sealed(`${round} ${'x'.repeat(500)}`),
    version: round - 1
  }))
  await store.mutateKv(ann, mutations, 1)
}
await store.close()
