import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

const inMemory = '/dev/shm'

/** An empty folder, in memory if the system has a memory disk: for tests with thousands of commits that are not about disks. */
export function memoryFolder(t: Pick<Test, 'teardown'>): string {
  const folder = mkdtempSync(join(existsSync(inMemory) ? inMemory : tmpdir(), 'afield-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}
