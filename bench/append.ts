import { bareLoop } from './kit/bare-loop.ts'
import { isChild, startChild } from './kit/child.ts'
import { openLoad } from './kit/load.ts'
import { afieldServer } from './kit/server.ts'

/**
 * What a message costs the server's processor from its HTTP post to its frame on another connection, on disk in between:
 * Afield beside a bare uWebSockets + SQLite loop that has no sign-in and no checks. Same wire, same durability, same
 * load, one after the other in turns, so that whatever else the machine does meets both.
 */
const rounds = 3
const cases = [
  { title: 'posted one at a time', batch: 1, messages: 40_000 },
  { title: 'in batches of 20', batch: 20, messages: 100_000 }
]
const connections = 32
const textBytes = 2_000

if (isChild) await (process.argv[2] === 'bare' ? bareLoop() : afieldServer())
else await main()

async function main() {
  console.log(
    `append: ${textBytes} bytes of sealed text, ${connections} connections post, one listens; µs of CPU per message, median of ${rounds}`
  )
  for (const { title, batch, messages } of cases) {
    const bare: number[] = []
    const ours: number[] = []
    for (let round = 0; round < rounds; round++) {
      bare.push(await cost('bare', batch, messages))
      ours.push(await cost('afield', batch, messages))
    }
    const ratios = ours.map((us, round) => us / (bare[round] ?? Number.NaN))
    console.log(`  ${title.padEnd(22)} bare ${shown(median(bare))}   afield ${shown(median(ours))}   ratio ${median(ratios).toFixed(2)}`)
  }
}

async function cost(kind: 'bare' | 'afield', batch: number, messages: number): Promise<number> {
  const child = await startChild(import.meta.filename, kind)
  const load = await openLoad(child.target, { connections, batch, textBytes })
  // Until the code that runs is the compiled one.
  await load.run(messages / 4)
  const before = await child.cpuUs()
  await load.run(messages)
  const spent = (await child.cpuUs()) - before
  await load.close()
  await child.stop()
  return spent / messages
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function shown(us: number): string {
  return `${us.toFixed(1)} µs`.padStart(9)
}
