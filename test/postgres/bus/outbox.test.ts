import { DatabaseError } from 'pg'
import t from 'tap'
import { limitsTopic, type Topic } from '../../../lib/bus/bus.ts'
import { readPayload } from '../../../postgres/bus/frames.ts'
import type { Client } from '../../../postgres/bus/link.ts'
import { lossTopic, Outbox } from '../../../postgres/bus/outbox.ts'
import { manualClock } from '../../kit/manual-clock.ts'

const [ada, grace] = ['account:ada' as Topic, 'account:grace' as Topic]
const mebibyte = 1024 * 1024

/** A connection that records each statement, and answers when it is told to. */
function connection() {
  const statements: string[][] = []
  const publishers = new Set<string | undefined>()
  const numbers: string[] = []
  const answers: PromiseWithResolvers<void>[] = []
  let wake = () => {}
  const client: Client = {
    notify(payloads) {
      const read = payloads.map(readPayload)
      for (const each of read) publishers.add(each?.publisher)
      numbers.push(...payloads.map(payload => payload.split(' ')[1] ?? ''))
      statements.push(read.map(each => `${each?.topic} ${each?.content.slice(0, 40)}`))
      const answer = Promise.withResolvers<void>()
      answers.push(answer)
      wake()
      return answer.promise
    }
  }
  return {
    ...{ client, statements, publishers, numbers },
    answer: () => answers.at(-1)?.resolve(),
    refuse: (error: unknown) => answers.at(-1)?.reject(error),
    /** Until so many statements were sent. */
    async sent(count: number) {
      while (statements.length < count) {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    }
  }
}

function open() {
  const said: string[] = []
  const clock = manualClock()
  const outbox = new Outbox({
    publisher: 'me',
    clock,
    onFailed: error => said.push(`failed: ${error}`),
    onRefused: () => said.push('refused')
  })
  return { outbox, said, clock }
}

function queueIsFull(): DatabaseError {
  return Object.assign(new DatabaseError('too many notifications', 1, 'error'), { code: '54000' })
}

/** Until what waits for settled promises has run. */
const turn = () => new Promise<void>(resolve => setImmediate(resolve))

t.test('what is published at once shares a statement, losses first, and later events wait for its answer', async t => {
  const { outbox, said } = open()
  const { client, statements, answer, sent, publishers, numbers } = connection()
  outbox.send(ada, ['one'])
  outbox.send(limitsTopic, ['used'])
  outbox.lose(grace)
  await turn()
  outbox.up(client)
  outbox.send(ada, ['two', 'three'])
  await sent(1)
  t.same(statements, [[`${lossTopic} ["account:grace"]`, 'account:ada one', 'account:ada two', 'account:ada three']])
  outbox.send(limitsTopic, ['used now'])
  outbox.send(grace, ['four'])
  await turn()
  t.equal(statements.length, 1)
  answer()
  await sent(2)
  t.same(statements[1], ['limits used now', 'account:grace four'])
  answer()
  await turn()
  outbox.send(ada, ['five'])
  await sent(3)
  t.same(statements[2], ['account:ada five'])
  answer()
  await outbox.close()
  t.same([...publishers], ['me'])
  t.equal(new Set(numbers).size, numbers.length, 'no two are equal')
  t.same(said, [])
})

t.test('a statement has at most 256 notifications, and the pieces of one event stay together', async t => {
  const { outbox } = open()
  const { client, statements, answer, sent } = connection()
  const pieces = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name}${index}`)
  outbox.send(ada, pieces(200, 'a'))
  outbox.send(ada, pieces(56, 'b'))
  outbox.send(ada, pieces(1, 'c'))
  outbox.send(ada, pieces(300, 'd'))
  outbox.up(client)
  for (const count of [1, 2, 3, 4]) {
    await sent(count)
    answer()
  }
  await outbox.close()
  t.same(
    statements.map(sent => [sent.length, sent[0]]),
    [
      [256, 'account:ada a0'],
      [1, 'account:ada c0'],
      [256, 'account:ada d0'],
      [44, 'account:ada d256']
    ]
  )
})

t.test('without a connection up to four mebibytes wait and the rest counts as lost; with one, more may wait', async t => {
  const { outbox } = open()
  const first = connection()
  outbox.send(ada, ['x'.repeat(4 * mebibyte - 1)])
  outbox.send(grace, ['yy'])
  outbox.send(ada, ['z'])
  outbox.up(first.client)
  await first.sent(1)
  t.same(first.statements[0], [`${lossTopic} ["account:grace"]`, `account:ada ${'x'.repeat(40)}`, 'account:ada z'])
  outbox.send(ada, ['w'.repeat(5 * mebibyte)])
  first.answer()
  await first.sent(2)
  t.same(first.statements[1], [`account:ada ${'w'.repeat(40)}`])
  first.answer()
  await turn()
  outbox.down(first.client)
  outbox.send(ada, ['v'.repeat(4 * mebibyte)])
  const second = connection()
  outbox.up(second.client)
  await second.sent(1)
  t.same(second.statements[0], [`account:ada ${'v'.repeat(40)}`], 'what was sent makes room')
  second.answer()
  await outbox.close()
})

t.test('more lost topics than can be named are all topics', async t => {
  for (const count of [32, 33]) {
    const { outbox } = open()
    const { client, statements, answer, sent } = connection()
    for (let number = 0; number < count; number++) outbox.lose(`account:${number}` as Topic)
    outbox.up(client)
    await sent(1)
    t.equal(statements[0]?.[0] === `${lossTopic} null`, count > 32)
    answer()
    await outbox.close()
  }
})

t.test('a failed statement ends the connection, and what it had counts as lost on the next [M2]', async t => {
  const { outbox, said } = open()
  const first = connection()
  outbox.up(first.client)
  outbox.lose(grace)
  outbox.send(ada, ['one'])
  await first.sent(1)
  outbox.send(ada, ['two'])
  first.refuse(new Error('the connection ended'))
  await turn()
  t.same(said, ['failed: Error: the connection ended'])
  t.equal(first.statements.length, 1)
  const second = connection()
  outbox.up(second.client)
  await second.sent(1)
  t.same(second.statements, [[`${lossTopic} ["account:grace","account:ada"]`, 'account:ada two']])
  const third = connection()
  outbox.up(third.client)
  outbox.down(second.client)
  second.refuse(new Error('an older one'))
  await third.sent(1)
  t.equal(said.length, 1, 'an error of an older connection changes nothing')
  t.match(third.statements, [[`${lossTopic} ["account:grace","account:ada"]`]])
  third.answer()
  await outbox.close()
})

t.test('an error of the database other than a full queue ends the connection too', async t => {
  const { outbox, said } = open()
  const { client, refuse, sent } = connection()
  outbox.up(client)
  outbox.send(ada, ['one'])
  await sent(1)
  refuse(Object.assign(new DatabaseError('it is stopping', 1, 'error'), { code: '57P01' }))
  await turn()
  t.same(said, ['failed: error: it is stopping'])
})

t.test('what was dropped because the queue was full takes no room afterwards', async t => {
  const { outbox, clock } = open()
  const { client, answer, refuse, sent } = connection()
  outbox.up(client)
  outbox.send(ada, ['one'])
  await sent(1)
  outbox.send(ada, ['x'.repeat(3 * mebibyte)])
  refuse(queueIsFull())
  await turn()
  clock.advance(1_000)
  await sent(2)
  answer()
  await turn()
  outbox.down(client)
  outbox.send(grace, ['y'.repeat(2 * mebibyte)])
  const next = connection()
  outbox.up(next.client)
  await next.sent(1)
  t.same(next.statements, [[`account:grace ${'y'.repeat(40)}`]])
})

t.test('closing waits for what is being sent', async t => {
  const { outbox } = open()
  const { client, answer, sent } = connection()
  outbox.up(client)
  outbox.send(ada, ['one'])
  await sent(1)
  let isClosed = false
  const closed = outbox.close().then(() => {
    isClosed = true
  })
  await turn()
  t.notOk(isClosed)
  answer()
  await closed
})

t.test('a full queue of the database is reported once and tried again every second, on the same connection', async t => {
  const { outbox, said, clock } = open()
  const { client, statements, answer, refuse, sent } = connection()
  outbox.up(client)
  outbox.send(ada, ['one'])
  await sent(1)
  outbox.send(grace, ['two'])
  refuse(queueIsFull())
  await turn()
  t.same(said, ['refused'])
  outbox.send(ada, ['three'])
  outbox.send(limitsTopic, ['used'])
  clock.advance(999)
  await turn()
  t.equal(statements.length, 1)
  clock.advance(1)
  await sent(2)
  t.same(statements[1], [`${lossTopic} ["account:ada","account:grace"]`])
  refuse(queueIsFull())
  await turn()
  clock.advance(1_000)
  await sent(3)
  t.same(said, ['refused'])
  answer()
  await turn()
  outbox.send(ada, ['four'])
  await sent(4)
  t.same(statements[3], ['account:ada four'])
  refuse(queueIsFull())
  await turn()
  t.same(said, ['refused', 'refused'], 'and again after it accepted one')
  await outbox.close()
  t.same([statements.length, clock.pending], [4, 0], 'closing gives up')
})
