import { parseArgs } from 'node:util'
import { bareLoop } from './kit/bare-loop.ts'
import { isChild } from './kit/child.ts'
import { compareCosts } from './kit/compare.ts'
import { openLoad } from './kit/load.ts'
import { recordPoints } from './kit/points.ts'
import { afieldServer } from './kit/server.ts'

/**
 * The server's processor time for a message, from its HTTP post to its frame on another connection, stored on disk in between:
 * Afield beside a bare uWebSockets + SQLite loop without sign-in and checks. Same wire, same durability, same load.
 *
 *   --record    messages of several sizes instead, for the curves of docs/benchmarks.md
 */
const rounds = 3
const cases = [
  { title: 'posted one at a time', batch: 1, textBytes: 2_000, messages: 40_000 },
  { title: 'in batches of 20', batch: 20, textBytes: 2_000, messages: 80_000 }
]
const sizes = [
  { title: '200 bytes', batch: 1, textBytes: 200, messages: 40_000 },
  { title: '2,000 bytes', batch: 1, textBytes: 2_000, messages: 40_000 },
  { title: '20,000 bytes', batch: 1, textBytes: 20_000, messages: 8_000 }
]
const shape = { posters: 32, listeners: 1 }

if (isChild) await (process.argv[2] === 'bare' ? bareLoop() : afieldServer())
else await main()

async function main() {
  const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } })
  const record = values.record ? recordPoints('size') : () => {}
  console.log(
    `append: sealed text of 2,000 bytes, ${shape.posters} connections post, one listens; µs of CPU per message, median of ${rounds}`
  )
  for (const { title, batch, textBytes, messages } of values.record ? sizes : cases) {
    const costs = await compareCosts({
      file: import.meta.filename,
      title,
      rounds,
      pieces: messages,
      open: ({ target }) => openLoad(target, { ...shape, batch, textBytes })
    })
    for (const [name, cost] of Object.entries(costs)) record(name, textBytes, cost)
  }
}
