import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from '../../lib/server/create.ts'
import { openStore } from '../../lib/store/open.ts'
import { safekeepingOf } from '../../lib/store/safekeeping.ts'
import { StoreFull } from '../../lib/store/store.ts'
import { draft, newAccount, newSession, readAll } from '../store/contract/kit.ts'
import { manualClock } from './manual-clock.ts'

// Runs a server on the given small disk until it is full and has space again, and reports as one line of JSON.
const disk = process.argv[2] ?? ''
const ballast = join(disk, 'ballast')
const data = join(disk, 'data')
const store = await openStore(`sqlite:${join(data, 'afield.db')}`, { dataDirectory: data, onBroken: reason => console.error(reason) })
const clock = manualClock()
const server = await createServer({ data, port: 0, store, clock, logLevel: 'silent', expoUrl: 'off', signup: 'open' })
const health = async () => (await fetch(`${server.url}/health`)).status

await safekeepingOf(store).makeRoom()
const hadReserve = existsSync(join(data, 'reserve'))
const ann = await newAccount(store, 'ann')
const [old, session] = [await newSession(store, ann), await newSession(store, ann)]
const text = 'x'.repeat(40_000)
for (let index = 0; index < 50; index++) await store.appendMessages(ann, old, [draft(text)], 1)
const healthBefore = await health()

fillUp()
const refusal = await appendUntilRefused()
const healthWhenFull = await health()
const hasReserveWhenFull = existsSync(join(data, 'reserve'))
const again = await store.appendMessages(ann, session, [draft(text)], 1).catch(error => error)
const read = (await readAll(store, ann, session)).length
const removed = await store.remove(ann, { of: 'session', id: old }).catch(error => error)
await safekeepingOf(store).makeRoom()
const isStillFull = safekeepingOf(store).soundness().isFull

rmSync(ballast)
await safekeepingOf(store).makeRoom()
const appended = await store.appendMessages(ann, session, [draft(text)], 1).catch(error => error)
const report = {
  hadReserve,
  healthBefore,
  isFull: refusal instanceof StoreFull,
  healthWhenFull,
  hasReserveWhenFull,
  isRefusedAgain: again instanceof StoreFull,
  read,
  isRemoved: !(removed instanceof Error) && removed !== 'missing',
  isStillFull,
  isAppended: !(appended instanceof Error),
  healthAfter: await health(),
  hasReserveAfter: existsSync(join(data, 'reserve')),
  kept: (await readAll(store, ann, session)).length
}
await server.close()
console.log(JSON.stringify(report))
process.exit()

function fillUp(): void {
  try {
    for (;;) writeFileSync(ballast, Buffer.alloc(64 * 1024), { flag: 'a' })
  } catch {}
}

async function appendUntilRefused(): Promise<unknown> {
  try {
    for (;;) await store.appendMessages(ann, session, [draft(text)], 1)
  } catch (error) {
    return error
  }
}
