import type { Test } from 'tap'
import { openPostgresStore } from '../../postgres/store.ts'
import { lacksPostgres, startPostgres } from '../kit/postgres.ts'
import { type PartOfStore, partsOfStore } from '../store/contract.ts'

/**
 * Proves parts of the contract of a store for PostgreSQL, on a server of its own. The test of a source proves those that are about
 * it; `store.test.ts` proves the others, and that none is missing.
 */
export function proveParts(t: Pick<Test, 'test'>, ...names: PartOfStore[]): void {
  t.test(`the store in PostgreSQL keeps its contract: ${names.join(', ')}`, { skip: lacksPostgres }, async t => {
    const postgres = await startPostgres(t)
    const migrated = await postgres.makeDatabase()
    await (await openPostgresStore(migrated, {})).close()
    for (const name of names) {
      partsOfStore[name](t, () => {
        const url = postgres.makeDatabase(migrated)
        return async () => openPostgresStore(await url, {})
      })
    }
  })
}
