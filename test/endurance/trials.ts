import { runCuts } from '../client/cuts.ts'
import { worldAt } from '../client/world.ts'
import { startServerProcess } from '../kit/server.ts'
import { dawdling } from './dawdling.ts'
import { endUnderLoad } from './ending.ts'
import { pollingFlood } from './polling-flood.ts'
import { ringing } from './ringing.ts'
import { stalling } from './stalling.ts'
import type { Keeper, Outcome } from './trial.ts'

export interface Ask {
  /** An empty directory. */
  data: string
  seed: number
  /** How much of it: rounds, connections, whatever the trial counts. */
  size: number
}

interface Trial {
  about: string
  /** By itself, and as the sample among the tests. */
  sizes: { whole: number; sample: number }
  run(t: Keeper, ask: Ask): Promise<Outcome>
}

export const trials: Record<string, Trial> = {
  cuts: {
    about: 'a reader cut off so many times, in five ways, ends with every message [S1]',
    sizes: { whole: 2_000, sample: 20 },
    async run(t, { data, seed, size }) {
      const { url } = await startServerProcess(t, { data })
      const { seen, written, cuts } = await runCuts(t, await worldAt(t, url), { seed, cuts: size, messages: 25 * size })
      const isWhole = seen.length === written.length && seen.every((seq, index) => seq === written[index])
      return {
        told: `${cuts} cuts while ${written.length} messages were written`,
        complaints:
          isWhole && cuts >= size / 2 ? [] : [`${seen.length} messages were handed over, of ${written.length}, or in another order.`]
      }
    }
  },
  ending: {
    about: 'a server asked to end under load, so many times, loses nothing it answered [L1]',
    sizes: { whole: 100, sample: 1 },
    async run(t, { data, size }) {
      let answered = 0
      const complaints: string[] = []
      for (let round = 0; round < size; round += 1) {
        const outcome = await endUnderLoad(t, `${data}/${round}`)
        answered += outcome.answered
        complaints.push(...outcome.complaints.map(complaint => `Round ${round}: ${complaint}`))
      }
      return { told: `${size} ends, ${answered} messages answered before them`, complaints }
    }
  },
  dawdling: {
    about: 'so many connections that drip, stop or say nothing are closed and cost little until then [N8]',
    sizes: { whole: 10_000, sample: 120 },
    run: (t, { data, size }) => dawdling(t, { data, connections: size })
  },
  stalling: {
    about: 'so many readers that stop reading cannot fill the memory [B2]',
    sizes: { whole: 500, sample: 135 },
    run: (t, { data, size }) => stalling(t, { data, readers: size })
  },
  ringing: {
    about: 'so many notices over providers that fail one call in five each end in one known outcome [P6]',
    sizes: { whole: 10_000, sample: 15 },
    run: (t, { data, size, seed }) => ringing(t, { data, notices: size, seed })
  },
  polling: {
    about: 'so many strangers that begin by polling keep nobody else from anything [N5, N8]',
    sizes: { whole: 50_000, sample: 1_500 },
    run: (t, { data, size }) => pollingFlood(t, { data, connections: size })
  }
}
