import { runCuts } from '../client/cuts.ts'
import { worldAt } from '../client/world.ts'
import { startServerProcess } from '../kit/server.ts'
import { begunFrames } from './begun-frames.ts'
import { begunUploads } from './begun-uploads.ts'
import { dawdling } from './dawdling.ts'
import { endUnderLoad } from './ending.ts'
import { foreignPage } from './foreign-page.ts'
import { largeBodies } from './large-bodies.ts'
import { largeFrames } from './large-frames.ts'
import { largePost } from './large-post.ts'
import { largeRemoval } from './large-removal.ts'
import { longLists } from './long-lists.ts'
import { pairingFlood } from './pairing-flood.ts'
import { pipelining } from './pipelining.ts'
import { pollingFlood } from './polling-flood.ts'
import { ringing } from './ringing.ts'
import { silentCrowd } from './silent-crowd.ts'
import { stalling } from './stalling.ts'
import type { Keeper, Outcome } from './trial.ts'
import { unansweredCalls } from './unanswered-calls.ts'
import { unreadPongs } from './unread-pongs.ts'

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
        figures: { rounds: cuts, checks: written.length },
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
  frames: {
    about: 'so many strangers that begin large messages and never end them cannot fill the memory [B2, N2]',
    sizes: { whole: 120, sample: 30 },
    run: (t, { data, seed, size }) => largeFrames(t, { data, seed, connections: size })
  },
  begun: {
    about: 'so many sockets of one account that begin large messages and never end them cannot fill the memory [B2, N2]',
    sizes: { whole: 64, sample: 32 },
    run: (t, { data, seed, size }) => begunFrames(t, { data, seed, connections: size })
  },
  uploads: {
    about: 'so many parts of attachments whose rest never comes cannot fill the memory [N2]',
    sizes: { whole: 900, sample: 240 },
    run: (t, { data, size }) => begunUploads(t, { data, tries: size })
  },
  calls: {
    about: 'calls that nobody answers, from so many sockets, cannot fill the memory [B5, N2]',
    sizes: { whole: 30, sample: 2 },
    run: (t, { data, size }) => unansweredCalls(t, { data, sockets: size })
  },
  stalling: {
    about: 'so many readers that stop reading cannot fill the memory [B2]',
    sizes: { whole: 500, sample: 45 },
    run: (t, { data, size }) => stalling(t, { data, readers: size })
  },
  ringing: {
    about: 'so many notices over providers that fail one call in five each end in one known outcome [P6]',
    sizes: { whole: 10_000, sample: 8 },
    run: (t, { data, size, seed }) => ringing(t, { data, notices: size, seed })
  },
  pipelining: {
    about: 'so many clients that pipeline requests and read no answer cost little and starve nobody [B2, B6]',
    sizes: { whole: 200, sample: 22 },
    run: (t, { data, size }) => pipelining(t, { data, connections: size })
  },
  polling: {
    about: 'so many strangers that begin by polling keep nobody else from anything [N5, N8]',
    sizes: { whole: 50_000, sample: 800 },
    run: (t, { data, size }) => pollingFlood(t, { data, connections: size })
  },
  pairings: {
    about: 'pairings begun from so many addresses are all answered, and keep nobody else from anything [A7, Q2]',
    sizes: { whole: 3_000, sample: 1_100 },
    run: (t, { data, size }) => pairingFlood(t, { data, addresses: size })
  },
  pongs: {
    about: 'so many sockets that send pings and read no pong cannot fill the memory [B1, B2]',
    sizes: { whole: 240, sample: 20 },
    run: (t, { data, size }) => unreadPongs(t, { data, connections: size })
  },
  removal: {
    about: 'a session of so many messages is removed in pieces, and goes on after a kill [D1, B3]',
    sizes: { whole: 3_000_000, sample: 20_000 },
    run: (t, { data, size }) => largeRemoval(t, { data, messages: size })
  },
  crowd: {
    about: 'so many silent strangers, few addresses or a whole /16, keep nobody with a token from signing in [N8]',
    sizes: { whole: 12_000, sample: 800 },
    run: (t, { data, size, seed }) => silentCrowd(t, { data, connections: size, seed })
  },
  page: {
    about: 'so many WebSockets of a page of another site keep the own wrapper from nothing [H2]',
    sizes: { whole: 1_000, sample: 66 },
    run: (t, { data, size }) => foreignPage(t, { data, sockets: size })
  },
  lists: {
    about: 'long lists asked for on so many connections at once, by one account and by many, cannot fill the memory [B2, B3]',
    sizes: { whole: 300, sample: 30 },
    run: (t, { data, size }) => longLists(t, { data, connections: size, accounts: Math.ceil(size / 5) })
  },
  bodies: {
    about: 'so many MiB of bodies and events of one account are taken as fast as it may, and others go on [B3, Q1]',
    sizes: { whole: 4_000, sample: 190 },
    run: (t, { data, size }) => largeBodies(t, { data, megabytes: size })
  },
  posts: {
    about: 'a post of so many MiB to sixty sockets of its account reaches all that read, and freezes nobody [B1, B2, B3]',
    sizes: { whole: 93, sample: 6 },
    run: (t, { data, size }) => largePost(t, { data, megabytes: size })
  }
}
