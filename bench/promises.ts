import { isChild } from './kit/child.ts'
import { costsInTurns, median, medianRatio } from './kit/compare.ts'
import { openLoad } from './kit/load.ts'
import { promises, promisingLoop } from './kit/promising-loop.ts'
import { afieldServer } from './kit/server.ts'

/**
 * What each promise costs: the bare loop of `append` with none of them, with the first, with the first two and so on, beside
 * Afield. What Afield takes above the last one is not the price of these promises.
 */
const rounds = 2
const shape = { posters: 32, listeners: 1, batch: 1, textBytes: 2_000 }
// Nine servers take turns, and an idle connection is closed after 10 s.
const messages = 30_000

if (isChild) await (process.argv[2] === 'afield' ? afieldServer() : promisingLoop(Number(process.argv[2])))
else await main()

async function main() {
  console.log(`promises: messages of ${shape.textBytes} bytes posted one at a time; µs of CPU per message, median of ${rounds}`)
  const kinds = [...promises.keys(), promises.length, 'afield'].map(String)
  const titles = ['the bare loop', ...promises.map(title => `+ ${title}`), 'Afield']
  const costs = await costsInTurns(kinds, {
    file: import.meta.filename,
    rounds,
    pieces: messages,
    open: ({ target }) => openLoad(target, shape)
  })
  for (const [at, title] of titles.entries()) {
    const [own = [], bare = []] = [costs[at], costs[0]]
    console.log(`  ${title.padEnd(64)} ${median(own).toFixed(1).padStart(6)} µs   ratio ${medianRatio(own, bare).toFixed(2)}`)
  }
}
