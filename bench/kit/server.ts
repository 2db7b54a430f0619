import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { createServer } from '../../lib/index.ts'
import { accountsAsked, dataDirectory, serveParent } from './child.ts'

/** Afield itself, from `createServer`, with accounts created by another process. */
export async function afieldServer(): Promise<void> {
  const data = dataDirectory()
  const prepared = execFileSync(process.execPath, [join(import.meta.dirname, 'prepare.ts'), data, String(accountsAsked())])
  const { port } = await createServer({ port: 0, data, signup: 'open', limits: 'off', logLevel: 'silent' })
  serveParent({ ...JSON.parse(prepared.toString()), port })
}
