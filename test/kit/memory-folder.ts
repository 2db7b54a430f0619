import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

const inMemory = '/dev/shm'

/** An empty folder, in memory where the system has a disk there: for tests that commit by the thousand and are not about disks. */
export function memoryFolder(t: Pick<Test, 'teardown'>): string {
  const folder = mkdtempSync(join(existsSync(inMemory) ? inMemory : tmpdir(), 'afield-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}
