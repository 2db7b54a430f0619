import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openStore } from '../../lib/store/open.ts'
import { upgradeProgram } from '../../lib/upgrade/upgrade.ts'
import { draft, newAccount, newSession } from '../store/contract/kit.ts'
import { install, now, program, publish, releaseKey } from './kit.ts'

// Upgrades the program on the given small disk, with a release in the given folder or at an address, while the disk becomes full at each of several
// moments, and then once it has space; reports as one line of JSON.
const [disk = '', folder = ''] = process.argv.slice(2)
const data = join(disk, 'data')
const ballast = join(disk, 'ballast')
const key = releaseKey()
const chunkBytes = 1024 * 1024
// In several chunks, the last of them whole, so that a part of it can fit.
const chunks = 4
const bytes = Buffer.concat([program({ version: '0.2.0' }), Buffer.alloc(chunks * chunkBytes, '\n')]).subarray(0, chunks * chunkBytes)
const large = publish(join(folder, 'large'), { version: '0.2.0', bytes, key })
const small = publish(join(folder, 'small'), { version: '0.2.0', bytes: program({ version: '0.2.0' }), key })

mkdirSync(data, { mode: 0o700 })
const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => console.error(reason) })
const ann = await newAccount(store, 'ann')
await store.appendMessages(ann, await newSession(store, ann), [draft('hello')], 1)
await store.close()
const file = install(join(disk, 'bin'), program({ version: '0.1.0' }))

const server = createServer(({ url = '' }, response) => response.end(readFileSync(join(large, url))))
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const before = seen()
const fills: [string, number, number][] = [
  [large, 0, 0],
  [large, chunkBytes, 0],
  [large, (chunks - 1) * chunkBytes, 64 * 1024],
  [address, 1, 0]
]
const outcomes: unknown[] = []
for (const [source, after, free] of fills) {
  const outcome = await upgrade(source, (done = 0) => done >= after && leaveFree(free))
  rmSync(ballast, { force: true })
  outcomes.push({ ...outcome, isUntouched: seen() === before })
}
const last = await upgrade(small, () => {})
server.close()
console.log(JSON.stringify({ outcomes, last, bin: readdirSync(join(disk, 'bin')), isNew: readFileSync(file).includes('"0.2.0"') }))

async function upgrade(source: string, fill: (done?: number) => void): Promise<object> {
  const options = { data, store: 'sqlite:afield.db' }
  const ask = { source, keys: key.pub, file, version: '0.1.0', options, hasTrial: false, readyWithinMs: 1000, now }
  const tell = (_: string, progress?: { done: number }) => fill(progress?.done)
  try {
    return await upgradeProgram({ ...ask, supervisorOf: async () => undefined, tell, signal: new AbortController().signal })
  } catch (error) {
    const { message, exitCode } = error as Error & { exitCode?: number }
    return { message, exitCode }
  }
}

/** The names and contents of everything on the disk. */
function seen(): string {
  const digest = createHash('sha256')
  for (const entry of readdirSync(disk, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (path !== ballast) digest.update(`${path}\n`)
    if (entry.isFile() && path !== ballast) digest.update(readFileSync(path))
  }
  return digest.digest('hex')
}

function leaveFree(bytes: number): void {
  const { bavail, bsize } = statfsSync(disk)
  if (bavail * bsize > bytes) writeFileSync(ballast, Buffer.alloc(bavail * bsize - bytes), { flag: 'a' })
}
