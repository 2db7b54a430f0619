import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart } from '../../lib/exit.ts'
import { openStore } from '../../lib/store/open.ts'
import { safekeepingOf } from '../../lib/store/safekeeping.ts'
import { StoreFull } from '../../lib/store/store.ts'
import { draft, newAccount, newSession, readAll } from '../store/contract/kit.ts'

// Fills the given small disk under a store in every possible way, and reports as one line of JSON.
const disk = process.argv[2] ?? ''
const ballast = join(disk, 'ballast')
const open = () => openStore('sqlite:afield.db', { dataDirectory: join(disk, 'data'), onBroken: reason => console.error(reason) })

fillUp()
const refusal = await open().then(
  () => undefined,
  error => error
)
rmSync(ballast)
// Less than the reserve is left, regardless of later removals.
writeFileSync(ballast, Buffer.alloc(5 * 1024 * 1024))

const store = await open()
const ann = await newAccount(store, 'ann')
const session = await newSession(store, ann)
let acked = 0
const failure = await appendUntilRefused()
const read = (await readAll(store, ann, session)).length
const again = await append().catch(error => error)
await safekeepingOf(store).makeRoom()
const saysFull = safekeepingOf(store).soundness().isFull
rmSync(ballast)
await safekeepingOf(store).makeRoom()
const saysFullAfter = safekeepingOf(store).soundness().isFull
const ackedWhenFull = acked
await append()
await store.close()

const reopened = await open()
const kept = (await readAll(reopened, ann, session)).length
await reopened.close()
console.log(
  JSON.stringify({
    refusal: refusal instanceof CannotStart && { message: refusal.message, exitCode: refusal.exitCode },
    isFull: failure instanceof StoreFull,
    isStillFull: again instanceof StoreFull,
    ackedWhenFull,
    saysFull,
    saysFullAfter,
    read,
    acked,
    kept
  })
)

function fillUp(): void {
  try {
    for (;;) writeFileSync(ballast, Buffer.alloc(64 * 1024), { flag: 'a' })
  } catch {}
}

async function append(): Promise<void> {
  await store.appendMessages(ann, session, [draft('x'.repeat(20_000))], 1)
  acked++
}

async function appendUntilRefused(): Promise<unknown> {
  try {
    for (;;) await append()
  } catch (error) {
    return error
  }
}
