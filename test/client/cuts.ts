import type { Test } from 'tap'
import { openFeed } from '../../lib/client/index.ts'
import { seededRandom } from '../crash/random.ts'
import type { TcpProxy } from '../kit/tcp-proxy.ts'
import type { World } from './world.ts'

/**
 * One follows a session over a line that is cut at random bytes, in ways that a seed decides, while another writes to it.
 * Returns the numbers of the messages in the order they were handed over, and those the server has.
 */
export async function runCuts(
  t: Pick<Test, 'teardown'>,
  world: World,
  { seed, cuts, messages }: { seed: number; cuts: number; messages: number }
) {
  const random = seededRandom(seed)
  const { session, key } = await world.openSession()
  const { line, ...client } = await world.client()
  const seen: number[] = []
  const complete = Promise.withResolvers<void>()
  const feed = openFeed({
    ...client,
    session: session.id,
    after: 0,
    onMessages(batch) {
      for (const { seq } of batch) seen.push(seq)
      if (seen.length >= messages) complete.resolve()
    }
  })
  t.teardown(() => feed.close())

  const written: number[] = []
  const perCut = messages / cuts
  for (let number = 0; number < messages; number += 1) {
    if (number % perCut === 0) {
      random.pick(waysToBreak)(line, random.between(1, 20_000))
      client.socket.reconnectNow()
    }
    const draft = { localId: `${number}`, content: key.cipher.seal({ number }) }
    const { messages: stored } = await world.rest.call('appendMessages', { params: { id: session.id }, body: { messages: [draft] } })
    for (const { seq } of stored) written.push(seq)
  }
  client.socket.reconnectNow()
  await complete.promise
  return { seen, written, cuts: line.connects - 1 }
}

const waysToBreak: ((line: TcpProxy, bytes: number) => void)[] = [
  (line, bytes) => line.cutAfter(bytes),
  line => line.cut(),
  line => line.hangUp(),
  line => line.halfOpen(),
  // Everything on the way vanishes, and nobody is told.
  line => {
    line.stall()
    line.heal()
  }
]
