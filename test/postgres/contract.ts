import type { Test } from 'tap'
import { openPostgresStore } from '../../postgres/store.ts'
import { lacksPostgres, startPostgres } from '../kit/postgres.ts'
import type { ContractPart } from '../store/contract/kit.ts'

/**
 * Proves parts of the contract of a store for PostgreSQL, on a server of its own. The test of a source proves those that are about
 * it, and loads no others; `store.test.ts` proves the rest, and that none is missing.
 */
export function proveParts(t: Pick<Test, 'test'>, ...parts: ContractPart[]): void {
  t.test('the store in PostgreSQL keeps its contract', { skip: lacksPostgres }, async t => {
    const postgres = await startPostgres(t)
    const migrated = await postgres.makeDatabase()
    await (await openPostgresStore(migrated, {})).close()
    for (const part of parts) {
      part(t, () => {
        const url = postgres.makeDatabase(migrated)
        return async () => openPostgresStore(await url, {})
      })
    }
  })
}
