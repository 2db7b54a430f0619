import { join } from 'node:path'
import type { Test } from 'tap'
import { openStore } from '../../lib/store/open.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
import type { ContractPart } from '../store/contract/kit.ts'

/**
 * Proves parts of the contract of a store for SQLite. The test of a source proves those that are about it, and loads no others, so
 * that it is fast; `store.test.ts` proves the rest, and that none is missing.
 */
export function proveParts(t: Test, ...parts: ContractPart[]): void {
  for (const part of parts) {
    part(t, t => {
      const dataDirectory = join(memoryFolder(t), 'data')
      return () => openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.fail(reason.message) })
    })
  }
}
