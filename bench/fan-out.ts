import { bareLoop } from './kit/bare-loop.ts'
import { isChild } from './kit/child.ts'
import { compareCosts } from './kit/compare.ts'
import { openLoad } from './kit/load.ts'
import { afieldServer } from './kit/server.ts'

/**
 * The server's processor time for a message with many receivers: Afield, which sends to each connection and checks
 * the result, beside a bare loop that uses uWebSockets topics. Both store it on disk before anyone sees it.
 */
const rounds = 3
const cases = [
  { title: 'one agent speaks', posters: 1, messages: 2_000 },
  { title: 'eight agents speak', posters: 8, messages: 6_000 }
]
// In lockstep, so that both servers have the same messages in each turn, whichever answers first.
const shape = { listeners: 50, batch: 1, textBytes: 2_000, inStep: true }

if (isChild) await (process.argv[2] === 'bare' ? bareLoop() : afieldServer())
else await main()

async function main() {
  console.log(
    `fan-out: ${shape.textBytes} bytes of sealed text to ${shape.listeners} connections; µs of CPU per message, median of ${rounds}`
  )
  for (const { title, posters, messages } of cases) {
    await compareCosts({
      file: import.meta.filename,
      title,
      rounds,
      pieces: messages,
      open: ({ target }) => openLoad(target, { ...shape, posters })
    })
  }
}
