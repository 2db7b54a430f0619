import { bareLoop } from './kit/bare-loop.ts'
import { isChild } from './kit/child.ts'
import { compare, costOf } from './kit/compare.ts'
import { openLoad } from './kit/load.ts'
import { afieldServer } from './kit/server.ts'

/**
 * The server's processor time for a message, from its HTTP post to its frame on another connection, stored on disk in between:
 * Afield beside a bare uWebSockets + SQLite loop without sign-in and checks. Same wire, same durability, same load.
 */
const rounds = 3
const cases = [
  { title: 'posted one at a time', batch: 1, messages: 40_000 },
  { title: 'in batches of 20', batch: 20, messages: 100_000 }
]
const shape = { posters: 32, listeners: 1, textBytes: 2_000 }

if (isChild) await (process.argv[2] === 'bare' ? bareLoop() : afieldServer())
else await main()

async function main() {
  console.log(
    `append: ${shape.textBytes} bytes of sealed text, ${shape.posters} connections post, one listens; µs of CPU per message, median of ${rounds}`
  )
  for (const { title, batch, messages } of cases) {
    await compare({
      file: import.meta.filename,
      title,
      unit: 'µs',
      rounds,
      async measure(child) {
        const load = await openLoad(child.target, { ...shape, batch })
        const cost = await costOf(child, messages, load.run)
        await load.close()
        return cost
      }
    })
  }
}
