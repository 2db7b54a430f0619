import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { type Feed, openFeed } from '../../../lib/client/feed/feed.ts'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import type { Rest } from '../../../lib/client/link/rest.ts'
import type { MessageRecord } from '../../../lib/protocol/wire/records.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { FakeLink, messageAt, turn } from '../link/fake-link.ts'

interface Read {
  query: { after_seq?: number; before_seq?: number; limit: number }
  signal: AbortSignal | undefined
  /** What the server had when the read arrived there. */
  early: MessageRecord[]
  settle: PromiseWithResolvers<{ messages: MessageRecord[]; hasMore: boolean }>
}

/** A server of one session, whose reads a test answers when it likes and whose frames it delivers, loses or leaves waiting. */
class World {
  readonly stored: MessageRecord[] = []
  readonly link = new FakeLink()
  readonly clock = manualClock()
  readonly received: number[] = []
  readonly states: string[] = []
  readonly feed: Feed
  reads: Read[] = []
  frames: MessageRecord[] = []
  held: MessageRecord[] = []
  hides = true

  constructor(after: number | 'end' = 0, { pageSize = 3, stored = 0, up = true } = {}) {
    for (let index = 0; index < stored; index++) this.append('silently')
    if (up) this.link.up()
    this.feed = openFeed({
      rest: {
        call: ((_name: string, request: { params: { id: string }; query: Read['query'] }, options: { signal?: AbortSignal | undefined }) =>
          this.#read(request, options)) as unknown as Rest['call']
      },
      socket: this.link,
      session: 's1',
      after,
      pageSize,
      clock: this.clock,
      random: () => 1,
      onMessages: messages => this.received.push(...messages.map(message => message.seq)),
      onState: state => this.states.push(state.type)
    })
  }

  #read({ params, query }: { params: { id: string }; query: Read['query'] }, { signal }: { signal?: AbortSignal | undefined } = {}) {
    assert.equal(params.id, 's1')
    const read: Read = { query, signal, early: [...this.stored], settle: Promise.withResolvers() }
    signal?.addEventListener('abort', () => {
      this.reads = this.reads.filter(other => other !== read)
      read.settle.reject(signal.reason)
    })
    this.reads.push(read)
    return read.settle.promise
  }

  /** `own`: by this very client, so that no frame comes, but a reply. */
  append(wanted: 'frame' | 'own' | 'silently'): void {
    const how = wanted === 'silently' && !this.hides ? 'frame' : wanted
    const message = messageAt(this.stored.length + 1)
    this.stored.push(message)
    if (how === 'own') this.held.push(message)
    if (how === 'frame' && this.link.state.type === 'live') this.frames.push(message)
  }
  deliver(): void {
    const frame = this.frames.shift()
    if (frame) this.link.message(frame)
  }
  reply(): void {
    const replies = this.held
    this.held = []
    this.feed.take(replies)
  }
  cut(): void {
    this.frames = []
    this.link.down()
  }
  async answer(as: 'late' | 'early' | 'lost'): Promise<void> {
    const read = this.reads.shift()
    if (as === 'lost') read?.settle.reject(new Unreachable('network'))
    else read?.settle.resolve(pageOf(as === 'late' ? this.stored : read.early, read.query))
    await turn()
  }
  async settle(): Promise<void> {
    if (this.link.state.type !== 'live') this.link.up()
    await turn()
    while (this.frames.length > 0) this.deliver()
    for (let round = 0; round < 100 && (this.reads.length > 0 || this.clock.pending > 0); round++) {
      await this.answer('late')
      this.clock.advance(60_000)
      await turn()
    }
  }
}

function pageOf(stored: readonly MessageRecord[], { after_seq, before_seq, limit }: Read['query']) {
  const found =
    before_seq === undefined
      ? stored.filter(({ seq }) => seq > (after_seq ?? 0))
      : stored.filter(({ seq }) => seq < before_seq).toReversed()
  return { messages: found.slice(0, limit), hasMore: found.length > limit }
}

const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

t.test('with any disconnect, loss or delay every message is delivered once and in order [W2 S1 S2 O4]', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('frame', 'own', 'silently').map(how => (world: World) => world.append(how)) },
    { weight: 4, arbitrary: fc.constant((world: World) => world.deliver()) },
    { weight: 2, arbitrary: fc.constant((world: World) => world.reply()) },
    { weight: 1, arbitrary: fc.constant((world: World) => world.cut()) },
    { weight: 2, arbitrary: fc.constant((world: World) => world.link.up()) },
    { weight: 4, arbitrary: fc.constantFrom('late', 'early', 'lost').map(as => (world: World) => world.answer(as)) },
    { weight: 1, arbitrary: fc.constant((world: World) => world.clock.advance(1000)) }
  )
  const worlds = fc.record({ stored: fc.nat(8), after: fc.constantFrom(0, 2, 'end' as const), up: fc.boolean(), hides: fc.boolean() })

  await fc.assert(
    fc.asyncProperty(worlds, fc.array(step, { maxLength: 40 }), async ({ after, hides, ...options }, steps) => {
      const from = after === 2 && options.stored < 2 ? 0 : after
      const world = new World(from, options)
      world.hides = hides
      for (const take of steps) await take(world)
      // A message without a frame and without a reply can only be found by the next connect; nothing else needs one.
      if (hides) world.cut()
      else world.reply()
      await world.settle()

      const first = from === 'end' ? (world.received[0] ?? world.stored.length + 1) : from + 1
      assert.deepEqual(world.received, oneTo(world.stored.length).slice(first - 1))
      assert.equal(world.feed.state.type, 'live')
      world.feed.close()
    }),
    { numRuns: 300 }
  )
})

t.test('the next frame in order is delivered at once, without a read', async t => {
  const world = new World(0, { stored: 2 })
  await world.answer('late')
  world.append('frame')
  world.deliver()
  t.strictSame(world.received, [1, 2, 3])
  t.equal(world.reads.length, 0)
})

t.test('a frame beyond a gap waits for the read that fills it', async t => {
  const world = new World(0, { stored: 2 })
  await world.answer('late')
  world.append('silently')
  world.append('frame')
  world.deliver()
  t.strictSame(world.received, [1, 2])
  await world.answer('late')
  t.strictSame(world.received, [1, 2, 3, 4])
})

t.test('the reply to an own message beyond a gap does not advance the cursor past it [W2]', async t => {
  const world = new World(0)
  await world.answer('late')
  world.append('silently')
  world.append('own')
  world.reply()
  t.equal(world.feed.cursor, 0)
  await world.answer('late')
  t.strictSame(world.received, [1, 2])
})

t.test('frames that arrive during a read are delivered without another read', async t => {
  const world = new World(0, { stored: 2 })
  world.append('frame')
  world.deliver()
  world.append('frame')
  world.deliver()
  await world.answer('early')
  t.strictSame(world.received, [1, 2, 3, 4])
  t.equal(world.reads.length, 0)
})

t.test('a number that was never stored is requested once, not forever', async t => {
  const world = new World(0)
  await world.answer('late')
  world.link.message(messageAt(9))
  await world.answer('late')
  t.equal(world.reads.length, 0)
  t.equal(world.feed.state.type, 'live')
})

t.test('a message that it has already is not a reason to ask, whether it comes live or is taken', async t => {
  const world = new World(0, { stored: 3 })
  await world.answer('late')
  for (const seq of [1, 3]) {
    world.link.message(messageAt(seq))
    world.feed.take([messageAt(seq)])
  }
  await turn()
  t.same([world.received, world.reads.length, world.clock.pending], [[1, 2, 3], 0, 0])
})

t.test('a page without progress ends the reading, although the server says that more follow', async t => {
  const world = new World(0, { stored: 1 })
  await world.answer('late')
  world.link.message(messageAt(5))
  await turn()
  world.reads.shift()?.settle.resolve({ messages: [messageAt(1)], hasMore: true })
  await turn()
  t.same([world.reads.length, world.feed.state.type, world.received], [0, 'live', [1]])
})

t.test('from the end, the newest page comes first in ascending order, and reading history does not move the cursor', async t => {
  const world = new World('end', { stored: 10 })
  await world.answer('late')
  t.strictSame(world.received, [8, 9, 10])
  const older = world.feed.readBefore(8, 3)
  await world.answer('late')
  t.strictSame(
    (await older).messages.map(({ seq }) => seq),
    [5, 6, 7]
  )
  t.equal(world.feed.cursor, 10)
})

t.test('a failed read is retried after growing waits, and at once when the link returns', async t => {
  const world = new World(0, { stored: 1 })
  await world.answer('lost')
  t.equal(world.reads.length, 0)
  world.clock.advance(500)
  await turn()
  t.equal(world.reads.length, 1)
  await world.answer('lost')
  world.clock.advance(500)
  await turn()
  t.equal(world.reads.length, 0, 'the second wait is longer')
  world.link.up()
  await turn()
  t.equal(world.reads.length, 1)
})

t.test('a read hanging on a lost connection is abandoned when the link returns', async t => {
  const world = new World(0, { stored: 1 })
  const [hanging] = world.reads
  world.cut()
  world.link.up()
  await turn()
  t.ok(hanging?.signal?.aborted)
  await world.answer('late')
  t.strictSame(world.received, [1])
})

t.test('its status is away without a link, catching up while it reads, and live when it has everything', async t => {
  const world = new World(0, { stored: 1, up: false })
  t.equal(world.feed.state.type, 'away')
  world.link.up()
  await turn()
  const caughtUp = world.feed.caughtUp()
  await world.answer('late')
  await caughtUp
  world.cut()
  t.strictSame(world.states, ['catching-up', 'live', 'away'])
})

t.test('a deleted session ends the feed', async t => {
  const world = new World(0)
  const caughtUp = world.feed.caughtUp()
  const refusal = new Refused(404, 'Session not found')
  world.reads[0]?.settle.reject(refusal)
  await t.rejects(caughtUp, refusal)
  t.strictSame(world.feed.state, { type: 'ended', refusal })
  await t.rejects(world.feed.caughtUp(), refusal, 'also who asks later')
  world.feed.close()
  t.strictSame(world.feed.state, { type: 'ended', refusal })
  world.link.message(messageAt(1))
  t.strictSame(world.received, [])
})

t.test('a closed feed breaks off its read, and says so to who waits and who asks later', async t => {
  const world = new World(0, { stored: 1 })
  const [read] = world.reads
  const caughtUp = world.feed.caughtUp()
  world.feed.close()
  await t.rejects(caughtUp, { message: 'the feed was closed' })
  await t.rejects(world.feed.caughtUp(), { message: 'the feed was closed' })
  t.ok(read?.signal?.aborted)
  t.equal(world.feed.state.type, 'closed')
  world.feed.close()
  world.link.message(messageAt(1))
  world.feed.take([messageAt(1)])
  world.link.down()
  world.link.up()
  await turn()
  t.same([world.received, world.reads, world.states], [[], [], ['closed']])
})

t.test('a frame beyond a gap that came during the last page is a reason for another', async t => {
  const world = new World(0, { stored: 1 })
  world.append('silently')
  world.append('frame')
  const last = world.reads.shift()
  world.deliver()
  last?.settle.resolve({ messages: [messageAt(1)], hasMore: false })
  await turn()
  t.strictSame(world.received, [1])
  await world.answer('late')
  t.strictSame(world.received, [1, 2, 3])
  t.equal(world.reads.length, 0)
})
