import t from 'tap'
import type { BusEvent, Topic } from '../../lib/bus/bus.ts'
import type { Client } from '../../redis/link.ts'
import { Subscriptions } from '../../redis/subscriptions.ts'

const [ada, grace] = ['account:ada' as Topic, 'account:grace' as Topic]

/** A connection that records what is subscribed, and tells its listeners what a test publishes. */
function connection() {
  const asked: string[] = []
  const hearing = new Map<string, (content: string, channel: string) => void>()
  let answer: () => Promise<void> = async () => {}
  const client = {
    isReady: true,
    async subscribe(channels: string | string[], hear: (content: string, channel: string) => void) {
      asked.push(`+ ${[channels].flat().join(' ')}`)
      await answer()
      for (const channel of [channels].flat()) hearing.set(channel, hear)
    },
    async unsubscribe(channel: string) {
      asked.push(`- ${channel}`)
      await answer()
      hearing.delete(channel)
    }
  }
  return {
    ...{ asked, raw: client, client: client as unknown as Client },
    publish: (channel: string, content: string) => hearing.get(channel)?.(content, channel),
    answerWith(next: () => Promise<void>) {
      answer = next
    }
  }
}

function open() {
  const said: unknown[] = []
  const subscriptions = new Subscriptions({
    ...{ prefix: 'afield:0:', self: 'me' },
    onFrame: (topic, content) => said.push([topic, content]),
    onLost: topics => said.push(topics ?? 'everything')
  })
  return { subscriptions, said }
}

const listenersOf = (subscriptions: Subscriptions, topic: Topic) => [...subscriptions.listeners(topic)].length
const listener = (_: BusEvent) => {}

t.test('a topic is subscribed once for all its listeners, until the last of them goes', async t => {
  const { subscriptions } = open()
  const { client, asked } = connection()
  t.equal(await subscriptions.up(client), false, 'there was none before')
  t.same(asked.splice(0), ['+ afield:0:lost'])
  const heard: string[] = []
  const one = await subscriptions.add(ada, () => heard.push('one'))
  const other = await subscriptions.add(ada, () => heard.push('other'))
  t.same(asked.splice(0), ['+ afield:0:account:ada'])
  for (const tell of subscriptions.listeners(ada)) tell({ type: 'call-dropped', id: 'x' })
  t.same(heard, ['one', 'other'])
  await one()
  await one()
  t.same([asked, listenersOf(subscriptions, ada)], [[], 1])
  await other()
  t.same([asked.splice(0), listenersOf(subscriptions, ada)], [['- afield:0:account:ada'], 0])
  await subscriptions.add(ada, listener)
  t.same(asked, ['+ afield:0:account:ada'])
})

t.test('what others publish arrives with its topic, and what this instance published does not', async t => {
  const { subscriptions, said } = open()
  const { client, publish } = connection()
  await subscriptions.up(client)
  await subscriptions.add(ada, listener)
  publish('afield:0:account:ada', 'me own')
  publish('afield:0:account:ada', 'you one two')
  publish('afield:0:account:ada', 'me2 of another that is named alike')
  publish('afield:0:lost', 'me ["account:ada"]')
  publish('afield:0:lost', 'you ["account:ada","account:grace"]')
  publish('afield:0:lost', 'you null')
  publish('afield:0:lost', 'you {"of a later":"version"}')
  publish('afield:0:lost', 'you no JSON')
  t.same(said, [[ada, 'one two'], [ada, 'of another that is named alike'], [ada, grace], 'everything', 'everything', 'everything'])
})

t.test('a new connection has every topic with listeners before it counts as up, also those added meanwhile', async t => {
  const { subscriptions } = open()
  await subscriptions.add(ada, listener)
  const gone = await subscriptions.add(grace, listener)
  await gone()
  const first = connection()
  const late = 'account:late' as Topic
  first.answerWith(async () => {
    first.answerWith(async () => {})
    await subscriptions.add(late, listener)
  })
  t.equal(await subscriptions.up(first.client), false)
  t.same(first.asked.splice(0), ['+ afield:0:lost', '+ afield:0:account:ada afield:0:account:late'])

  subscriptions.down(connection().client)
  await subscriptions.add(grace, listener)
  t.same(first.asked.splice(0), ['+ afield:0:account:grace'], 'the end of another connection changes nothing')
  subscriptions.down(first.client)
  const away = await subscriptions.add('account:away' as Topic, listener)
  await away()
  t.same(first.asked, [])
  const second = connection()
  t.equal(await subscriptions.up(second.client), true)
  t.same(second.asked, ['+ afield:0:lost', '+ afield:0:account:ada afield:0:account:late afield:0:account:grace'])
})

t.test('a topic that Redis rejects leaves no listener, and one without an answer is subscribed on the next connection', async t => {
  const { subscriptions } = open()
  const { client, raw, asked, answerWith } = connection()
  await subscriptions.up(client)
  asked.splice(0)
  answerWith(async () => {
    throw new Error('NOPERM')
  })
  await t.rejects(subscriptions.add(ada, listener), { message: 'NOPERM' })
  t.same([asked.splice(0), listenersOf(subscriptions, ada)], [['+ afield:0:account:ada'], 0])

  raw.isReady = false
  await subscriptions.add(ada, listener)
  t.equal(listenersOf(subscriptions, ada), 1)
  raw.isReady = true
  answerWith(async () => {
    subscriptions.down(client)
    throw new Error('closed')
  })
  await subscriptions.add(grace, listener)
  const next = connection()
  await subscriptions.up(next.client)
  t.same(next.asked.slice(1), ['+ afield:0:account:ada afield:0:account:grace'])
})

t.test('changes of one topic are made one after the other, and the last one counts', async t => {
  const { subscriptions } = open()
  const { client, asked, answerWith } = connection()
  await subscriptions.up(client)
  asked.splice(0)
  const answered = Promise.withResolvers<void>()
  answerWith(() => answered.promise)
  const adding = subscriptions.add(ada, listener)
  const second = subscriptions.add(ada, listener)
  await new Promise(resolve => setImmediate(resolve))
  t.same(asked, ['+ afield:0:account:ada'])
  answered.resolve()
  const [one, other] = await Promise.all([adding, second])
  const removing = one()
  await Promise.all([removing, other(), subscriptions.add(ada, listener)])
  t.same(asked, ['+ afield:0:account:ada'], 'it had a listener all the time')
  t.equal(listenersOf(subscriptions, ada), 1)
  subscriptions.close()
  t.equal(listenersOf(subscriptions, ada), 0)
})
