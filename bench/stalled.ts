import { type Child, isChild, startChild } from './kit/child.ts'
import { median } from './kit/compare.ts'
import { requestText } from './kit/load.ts'
import { atRate, quantile } from './kit/pace.ts'
import { openPosters } from './kit/raw-http.ts'
import { openRawSocket } from './kit/raw-socket.ts'
import { afieldServer } from './kit/server.ts'

/** How much later everyone else receives a message while one client of the account does not read, until it is closed [B3]. */
const perSecond = 200
const seconds = 4
const rounds = 5
const listeners = 8
const shape = { batch: 1, textBytes: 8_000 }
const giveUpAfterMs = 120_000

if (isChild) await afieldServer()
else await main()

async function main() {
  console.log(
    `stalled: ${perSecond} messages/s of ${shape.textBytes} bytes to ${listeners} clients; ms from post to frame, median of ${rounds}`
  )
  const child = await startChild(import.meta.filename, 'afield')
  setTimeout(() => {
    console.error('  given up: some messages were never answered or never arrived')
    process.exit(1)
  }, giveUpAfterMs)
  const world = await openWorld(child)
  await world.delays()
  const [alone, beside]: [number[][], number[][]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    alone.push(await world.delays())
    const stalled = await openRawSocket({ port: child.target.port, auth: world.auth })
    stalled.stall()
    beside.push(await world.delays())
    stalled.close()
  }
  await child.stop()
  for (const share of [0.5, 0.99]) {
    const [without, withOne] = [alone, beside].map(runs => median(runs.map(delays => quantile(delays, share))))
    const ratio = median(beside.map((delays, round) => quantile(delays, share) / quantile(alone[round] ?? [], share)))
    console.log(
      `  p${share * 100}   all read ${without?.toFixed(1)} ms   one does not ${withOne?.toFixed(1)} ms   ratio ${ratio.toFixed(2)}`
    )
  }
  process.exit()
}

async function openWorld({ target }: Child) {
  const sentAt: number[] = []
  let delays: number[] = []
  const auth = { token: target.token, clientType: 'user-scoped' }
  const onPacket = (packet: Buffer) => {
    const number = /"localId":"00000000-0000-4000-8000-(\d+)-0"/.exec(packet.toString('latin1', 0, 300))?.[1]
    delays.push(performance.now() - (sentAt[Number(number)] ?? Number.NaN))
  }
  await Promise.all(Array.from({ length: listeners }, () => openRawSocket({ port: target.port, auth, onPacket })))
  const posters = await openPosters(target.port, 32)

  return {
    auth,
    async delays(): Promise<number[]> {
      delays = []
      const count = perSecond * seconds
      await atRate(perSecond, count, async () => {
        const number = sentAt.push(performance.now()) - 1
        await posters.post(requestText(target, shape, number))
      })
      while (delays.length < count * listeners) await new Promise(resolve => setTimeout(resolve, 10))
      return delays
    }
  }
}
