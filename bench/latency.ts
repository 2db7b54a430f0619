import { bareLoop } from './kit/bare-loop.ts'
import { type Child, isChild, startChild } from './kit/child.ts'
import { requestText } from './kit/load.ts'
import { atRate, quantile } from './kit/pace.ts'
import { openPosters } from './kit/raw-http.ts'
import { afieldServer } from './kit/server.ts'

/** How long a sender waits until its message is on disk, at a fixed rate: a late message delays the next ones too [D6]. */
const perSecond = 2_000
const seconds = 5
const rounds = 3
const shape = { batch: 1, textBytes: 2_000 }

if (isChild) await (process.argv[2] === 'bare' ? bareLoop() : afieldServer())
else await main()

async function main() {
  console.log(
    `latency: ${perSecond} messages/s for ${rounds} times ${seconds} s in turns, ${shape.textBytes} bytes of sealed text; ms from due to acknowledged`
  )
  const waits: Record<'bare' | 'afield', number[]> = { bare: [], afield: [] }
  for (let round = 0; round < rounds; round++) {
    for (const kind of ['bare', 'afield'] as const) {
      const child = await startChild(import.meta.filename, kind)
      waits[kind].push(...(await measure(child)))
      await child.stop()
    }
  }
  for (const [kind, all] of Object.entries(waits)) {
    const [p50, p90, p99, most] = [0.5, 0.9, 0.99, 1].map(share => quantile(all, share).toFixed(1))
    console.log(`  ${kind.padEnd(8)} p50 ${p50}   p90 ${p90}   p99 ${p99}   most ${most}`)
    console.log(histogram(all))
  }
}

async function measure({ target }: Child): Promise<number[]> {
  const posters = await openPosters(target.port, 64)
  let waits: number[] = []
  const post = async (number: number) => {
    const dueAt = performance.now()
    await posters.post(requestText(target, shape, number))
    waits.push(performance.now() - dueAt)
  }
  await atRate(perSecond, perSecond, post)
  waits = []
  await atRate(perSecond, perSecond * seconds, number => post(perSecond + number))
  posters.close()
  return waits
}

function histogram(waits: readonly number[]): string {
  const bounds = [1, 2, 5, 10, 25, 50, 100, Number.POSITIVE_INFINITY]
  const lines = bounds.map((bound, index) => {
    const count = waits.filter(ms => ms <= bound && ms > (bounds[index - 1] ?? 0)).length
    return `    ${`≤ ${bound} ms`.padStart(13)} ${`${((100 * count) / waits.length).toFixed(1)} %`.padStart(7)}`
  })
  return lines.join('\n')
}
