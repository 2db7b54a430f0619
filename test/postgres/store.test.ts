import t from 'tap'
import { openPostgresStore } from '../../postgres/store.ts'
import { lacksPostgres, startPostgres } from '../kit/postgres.ts'
import { storeContract } from '../store/contract.ts'

t.test('the store in PostgreSQL', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const migrated = await postgres.makeDatabase()
  await (await openPostgresStore(migrated, {})).close()
  storeContract(t, () => {
    const url = postgres.makeDatabase(migrated)
    return async () => openPostgresStore(await url, {})
  })
})
