import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeBackup } from '../../lib/backup/make.ts'
import { restoreBackup } from '../../lib/backup/restore.ts'
import { openStore } from '../../lib/store/open.ts'
import { draft, newAccount, newSession } from '../store/contract/kit.ts'

// Restores a backup onto the given small disk, which becomes full before the database, or before a key that then fits in part, and has space again
// before the rest; then once more with space. Reports as one line of JSON.
const [disk = '', elsewhere = ''] = process.argv.slice(2)
const now = Date.UTC(2030, 0, 2)
const ballast = join(disk, 'ballast')
const optionsFor = (data: string) => ({ data, store: 'sqlite:afield.db' })
const source = join(elsewhere, 'source')
mkdirSync(source, { mode: 0o700 })
const store = await openStore('sqlite:afield.db', { dataDirectory: source, onBroken: reason => console.error(reason) })
const ann = await newAccount(store, 'ann')
await store.appendMessages(ann, await newSession(store, ann), [draft('hello')], 1)
await store.close()
writeFileSync(join(source, 'a-key.pem'), 'k'.repeat(20_000))
const { file } = await makeBackup({ options: optionsFor(source), target: elsewhere, passphrase: undefined, now, tell() {} })

const data = join(disk, 'data')
mkdirSync(data, { mode: 0o700 })
const outcomes = []
for (const [before, free] of [
  ['the database', 0],
  ['the key', 8192]
] as const) {
  const outcome = await restore((step, { done, total } = { done: 0, total: 0 }) => {
    if (step === 'checking') rmSync(ballast, { force: true })
    else if (done === (before === 'the key' ? total - 20_000 : 0)) leaveFree(free)
  })
  rmSync(ballast, { force: true })
  outcomes.push({ ...outcome, left: readdirSync(data).filter(name => name !== 'afield.lock') })
}
console.log(JSON.stringify({ outcomes, last: await restore(() => {}) }))

async function restore(tell: Parameters<typeof restoreBackup>[0]['tell']): Promise<object> {
  try {
    const { manifest } = await restoreBackup({ options: optionsFor(data), file, passphrase: async () => '', force: false, now, tell })
    return { holds: manifest.holds }
  } catch (error) {
    const { name, message, exitCode } = error as Error & { exitCode?: number }
    return { name, message, exitCode }
  }
}

function leaveFree(bytes: number): void {
  const { bavail, bsize } = statfsSync(disk)
  if (bavail * bsize > bytes) writeFileSync(ballast, Buffer.alloc(bavail * bsize - bytes))
}
