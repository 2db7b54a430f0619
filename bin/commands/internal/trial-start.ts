import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { allowAddonsIn, version } from '../../../lib/assets.ts'
import { createServer } from '../../../lib/server/create.ts'
import { readMigrations } from '../../../lib/store/migrate.ts'
import { openStore } from '../../../lib/store/open.ts'

// Earlier versions run this before they let the program take their place, so its options and its output never change.

export function builder(line: Argv): Argv {
  return line.option('data', { type: 'string', describe: 'A copy of a data directory, which is upgraded' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const data = typeof args['data'] === 'string' ? args['data'] : undefined
  if (data !== undefined) await upgradeCopy(data)
  await serveNothing(data ?? tmpdir())
  console.log(JSON.stringify({ version: version(), schema: readMigrations('sqlite/').length }))
}

/** No server is started on it, which would send the notifications that wait in the copy. */
async function upgradeCopy(data: string): Promise<void> {
  allowAddonsIn(data)
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken() {} })
  await store.hasAccounts()
  await store.close()
}

async function serveNothing(beside: string): Promise<void> {
  const empty = mkdtempSync(join(beside, 'afield-trial-'))
  try {
    const server = await createServer({ data: empty, host: '127.0.0.1', port: 0, logLevel: 'silent', expoUrl: 'off' })
    await server.close()
  } finally {
    rmSync(empty, { recursive: true, force: true })
  }
}
