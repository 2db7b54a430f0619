import type { HttpResponse } from 'uWebSockets.js'
import { setImmediate as turnEnds } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Budget } from '../../../../lib/server/budget.ts'
import { BodyStream } from '../../../../lib/server/edge/http/body-stream.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

/** A body whose parts the test lets arrive, and what is asked of its connection. */
function opened({ limit = 100, room = 1000 } = {}) {
  const clock = manualClock()
  const asked: string[] = []
  let arrive = (_chunk: ArrayBuffer, _isLast: boolean): void => {}
  const response = {
    onData: (heard: typeof arrive) => {
      arrive = heard
    },
    pause: () => void asked.push('pause'),
    resume: () => void asked.push('resume')
  } as unknown as HttpResponse
  const budget = new Budget(room)
  const share = budget.share('mira')
  const body = new BodyStream(response, { limit, share, clock })
  return {
    body,
    asked,
    share,
    others: budget.share('luca'),
    clock,
    arrive: (text: string, isLast = false) => {
      const bytes = Buffer.from(text)
      const memory = new Uint8Array(bytes).buffer
      arrive(memory, isLast)
      // As the library does: the memory is used again.
      new Uint8Array(memory).fill(0)
    }
  }
}

async function readAll(body: BodyStream): Promise<string[]> {
  const chunks: string[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk).toString())
  return chunks
}

const rejects = (t: Test, reading: Promise<unknown>, code: string) => t.rejects(reading, { code })

t.test('a body is read while it arrives, and its connection is paused until each part was taken', async t => {
  const { body, asked, arrive, share } = opened()
  const reading = readAll(body)
  await turnEnds()
  t.same(asked, [], 'it waits for the first')
  arrive('one')
  arrive('two')
  t.same(asked, ['pause', 'pause'])
  await turnEnds()
  t.same(asked, ['pause', 'pause', 'resume'], 'both were taken')
  arrive('', true)
  t.same(await reading, ['one', 'two'])
  t.equal(body.length, 6)
  t.equal(share.bytes, 0)
})

t.test('a body that was whole before anyone read it is read at once', async t => {
  const { body, arrive, asked } = opened()
  arrive('all', true)
  t.same(await readAll(body), ['all'])
  t.same(asked, [])
})

t.test('a body may be as long as its limit, and no longer', async t => {
  const { body, arrive } = opened({ limit: 6 })
  arrive('three')
  arrive('1', true)
  t.same(await readAll(body), ['three', '1'])
  const longer = opened({ limit: 6 })
  longer.arrive('three')
  longer.arrive('12')
  longer.arrive('ignored', true)
  await rejects(t, readAll(longer.body), 'body-too-large')
})

t.test('a client that leaves cuts its body for who reads and who will, and is not resumed', async t => {
  const { body, arrive, asked } = opened()
  arrive('one')
  const reading = readAll(body)
  await turnEnds()
  body.cut()
  await rejects(t, reading, 'body-cut')
  t.same(asked, ['pause', 'resume'], 'once, before it left')
  const early = opened()
  early.arrive('one')
  early.body.cut()
  await rejects(t, readAll(early.body), 'body-cut')
  t.same(early.asked, ['pause'])
})

t.test('a body has half a minute before it must be faster than 256 bytes per second', async t => {
  const { body, arrive, clock } = opened({ limit: 100_000, room: 1_000_000 })
  arrive('a')
  clock.advance(30_000)
  arrive('b')
  clock.advance(1)
  arrive('x'.repeat(31_000 * 0.256))
  t.equal((await body[Symbol.asyncIterator]().next()).value?.length, 1)
  const slow = opened()
  slow.arrive('a')
  slow.clock.advance(30_001)
  slow.arrive('b')
  await rejects(t, readAll(slow.body), 'body-too-slow')
  const late = opened()
  late.clock.advance(60_000)
  late.arrive('all at once', true)
  t.same(await readAll(late.body), ['all at once'], 'its end is not slow')
})

t.test('a body without room for it is refused, and what a reader keeps counts', async t => {
  const { body, arrive, others } = opened({ limit: 10_000, room: 1000 })
  t.equal(others.take(400), true)
  arrive('x'.repeat(100))
  arrive('x'.repeat(600))
  await rejects(t, readAll(body), 'busy')
  const kept = opened({ limit: 10_000, room: 1000 })
  const reader = kept.body[Symbol.asyncIterator]()
  kept.arrive('x'.repeat(300))
  await reader.next()
  t.equal(kept.share.bytes, 300)
  kept.body.keep(300)
  t.equal(kept.share.bytes, 300)
  kept.body.keep(100)
  t.equal(kept.share.bytes, 100)
  kept.arrive('y'.repeat(50))
  kept.body.keep(0)
  t.equal(kept.share.bytes, 50, 'what has arrived and was not read')
  await reader.return(undefined)
  t.equal(kept.share.bytes, 0)
})

t.test('what is left of a dropped body is let through, so that the next request can come', async t => {
  const { body, arrive, asked, share } = opened()
  arrive('one')
  body.drop()
  t.same([asked, share.bytes], [['pause', 'resume'], 0])
  arrive('rest', true)
  t.equal(share.bytes, 0)
  await rejects(t, readAll(body), 'body-cut')
})
