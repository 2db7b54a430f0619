import t from 'tap'
import { limitsTopic, type Topic } from '../../lib/bus/bus.ts'
import type { Frame } from '../../redis/frames.ts'
import type { Client } from '../../redis/link.ts'
import { Outbox } from '../../redis/outbox.ts'

const [ada, grace] = ['account:ada' as Topic, 'account:grace' as Topic]
const frame = (content: string, more: Partial<Frame> = {}): Frame => ({ content, bytes: content.length, isParcel: false, ...more })
const mebibyte = 1024 * 1024

/** A connection that records what it is asked for, and answers when it is told to. */
function connection() {
  const asked: string[] = []
  const answers: PromiseWithResolvers<number>[] = []
  const values = new Map<string, string>()
  let storing: Promise<unknown> = Promise.resolve()
  const client = {
    publish(channel: string, content: string) {
      asked.push(`${channel} ${content}`)
      const answer = Promise.withResolvers<number>()
      answers.push(answer)
      return answer.promise
    },
    set(key: string, content: string, { expiration }: { expiration: { type: string; value: number } }) {
      asked.push(`set for ${expiration.value} ${expiration.type}`)
      values.set(key, content)
      return storing
    },
    get: async (key: string) => values.get(key) ?? null
  }
  return {
    client: client as unknown as Client,
    asked,
    values,
    answer: (index: number) => answers[index]?.resolve(1),
    refuse: (index: number) => answers[index]?.reject(new Error('refused')),
    refuseValues() {
      storing = Promise.reject(new Error('no room'))
    }
  }
}

function open() {
  const said: unknown[] = []
  const outbox = new Outbox({
    prefix: 'afield:0:',
    self: 'me',
    onRefused: error => said.push(String(error)),
    onLost: topics => said.push(topics ?? 'everything'),
    onStalled: () => said.push('stalled')
  })
  return { outbox, said }
}

/** Until what waits for settled promises has run. */
const turn = () => new Promise<void>(resolve => setImmediate(resolve))

t.test('a new connection publishes the losses, then what waited, in order; uses of limits do not wait for it', async t => {
  const { outbox, said } = open()
  const { client, asked, answer } = connection()
  outbox.send(ada, frame('one'))
  outbox.send(limitsTopic, frame('used'))
  outbox.lose(grace)
  outbox.send(ada, frame('two'))
  t.same([asked, said], [[], []])
  outbox.up(client)
  outbox.send(limitsTopic, frame('used now'))
  t.same(asked, [
    'afield:0:lost me ["account:grace"]',
    'afield:0:account:ada me one',
    'afield:0:account:ada me two',
    'afield:0:limits me used now'
  ])
  t.same(said, [[grace]])
  for (const index of [0, 1, 2, 3]) answer(index)
  await outbox.settled(60_000)
  const next = connection()
  outbox.up(next.client)
  t.same(next.asked, [], 'nothing is published twice')
})

t.test('while there is no connection four mebibytes wait, and the rest counts as lost', async t => {
  const { outbox, said } = open()
  const first = connection()
  outbox.send(ada, frame('large', { bytes: 4 * mebibyte - 1 }))
  outbox.send(grace, frame('too much', { bytes: 2 }))
  outbox.send(ada, frame('fits', { bytes: 1 }))
  outbox.up(first.client)
  t.same(first.asked, ['afield:0:lost me ["account:grace"]', 'afield:0:account:ada me large', 'afield:0:account:ada me fits'])
  t.same(said, [[grace]])
  outbox.down(first.client)
  outbox.send(grace, frame('again', { bytes: 4 * mebibyte }))
  const second = connection()
  outbox.up(second.client)
  t.same(second.asked, ['afield:0:lost me ["account:ada"]', 'afield:0:account:grace me again'], 'what was sent makes room')
})

t.test('what a connection leaves unanswered counts as lost, once, and an older connection changes nothing [M2]', async t => {
  const { outbox, said } = open()
  const first = connection()
  outbox.up(first.client)
  outbox.send(ada, frame('answered'))
  outbox.send(grace, frame('not answered'))
  first.answer(0)
  await turn()
  outbox.down(connection().client)
  outbox.send(ada, frame('still up'))
  t.equal(first.asked.length, 3)
  first.answer(2)
  await turn()
  outbox.down(first.client)
  first.refuse(1)
  await turn()
  t.same(said, [], 'the error is of the connection, not of the event')
  const second = connection()
  outbox.up(second.client)
  t.same(second.asked, ['afield:0:lost me ["account:grace"]'])
  second.refuse(0)
  await turn()
  const third = connection()
  outbox.up(third.client)
  t.same(third.asked, ['afield:0:lost me ["account:grace"]'], 'a loss that could not be published is published again')
})

t.test('what Redis rejects is reported here, and published to others as lost', async t => {
  const { outbox, said } = open()
  const { client, asked, refuse } = connection()
  outbox.up(client)
  outbox.send(ada, frame('refused'))
  refuse(0)
  await turn()
  t.same(said, ['Error: refused', [ada]])
  t.same(asked.slice(1), ['afield:0:lost me ["account:ada"]'])
})

t.test('more lost topics than can be named are all topics', async t => {
  for (const [count, says] of [
    [256, 256],
    [257, 'everything']
  ] as const) {
    const { outbox, said } = open()
    const { client, asked } = connection()
    for (let number = 0; number < count; number++) outbox.lose(`account:${number}` as Topic)
    outbox.up(client)
    t.equal(said.length, 1)
    t.equal(Array.isArray(said[0]) ? said[0].length : said[0], says)
    t.equal(asked[0] === 'afield:0:lost me null', count > 256)
  }
})

t.test('a large event is stored for half a minute before its name is published, and fetched by that name', async t => {
  const { outbox, said } = open()
  const { client, asked, values, refuseValues } = connection()
  t.equal(await outbox.fetch('any', 1_000), undefined, 'without a connection there is none')
  outbox.up(client)
  outbox.send(ada, frame('large', { isParcel: true }))
  t.match(asked, ['set for 30 EX', /^afield:0:account:ada me \*[0-9a-f-]{36}$/])
  const parcel = asked[1]?.split('*')[1] ?? ''
  t.same([...values], [[`afield:0:parcel:${parcel}`, 'large']])
  t.equal(await outbox.fetch(parcel, 1_000), 'large')
  t.equal(await outbox.fetch('another', 1_000), undefined)
  refuseValues()
  outbox.send(ada, frame('refused', { isParcel: true }))
  await turn()
  t.same(said, ['Error: no room'])
  outbox.send(ada, frame('of a connection that ended', { isParcel: true }))
  outbox.down(client)
  await turn()
  t.same(said, ['Error: no room'])
})

t.test('a Redis that answers nothing for 128 MiB counts as stalled', async t => {
  const { outbox, said } = open()
  const { client, answer } = connection()
  outbox.up(client)
  outbox.send(ada, frame('one', { bytes: 128 * mebibyte }))
  t.same(said, [])
  answer(0)
  await turn()
  outbox.send(ada, frame('two', { bytes: 128 * mebibyte }))
  t.same(said, [], 'what was answered does not count')
  outbox.send(ada, frame('three', { bytes: 1 }))
  t.same(said, ['stalled'])
  outbox.down(client)
  outbox.up(connection().client)
  outbox.send(ada, frame('four', { bytes: 128 * mebibyte }))
  t.same(said, ['stalled', [ada]], 'nor does what was lost')
})

t.test('it is settled after the last answer, when the connection ends, or when the time is up', async t => {
  const { outbox } = open()
  await outbox.settled(60_000)
  const { client, answer } = connection()
  outbox.up(client)
  outbox.send(ada, frame('one'))
  outbox.send(ada, frame('two'))
  await outbox.settled(1)
  let isSettled = false
  const settled = outbox.settled(60_000).then(() => {
    isSettled = true
  })
  answer(0)
  await turn()
  t.notOk(isSettled)
  answer(1)
  await settled
  outbox.send(ada, frame('three'))
  const ended = outbox.settled(60_000)
  outbox.down(client)
  await ended
  t.notOk(process.getActiveResourcesInfo().includes('Timeout'), 'and leaves no timer')
})
