import t from 'tap'
import { openPostgresStore } from '../../../postgres/store.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'
import { workContract } from '../../store/contract/work.ts'
import { proveParts } from '../contract.ts'

proveParts(t, workContract)

t.test('of several instances that claim work at once, one does it [M7]', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const url = await postgres.makeDatabase()
  const stores = [await openPostgresStore(url, {}), await openPostgresStore(url, {})]
  t.teardown(() => Promise.all(stores.map(store => store.close())))
  for (let round = 0; round < 20; round += 1) {
    const claims = await Promise.all(stores.map((store, index) => store.claimWork(`work ${round}`, `instance ${index}`, 60_000)))
    t.same(claims.toSorted(), [false, true])
  }
})
