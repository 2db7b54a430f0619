import t from 'tap'
import { createCallAnswers } from '../../../lib/client/link/answers.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { turn } from './fake-link.ts'

function open() {
  const clock = manualClock()
  const told: string[] = []
  const answers = createCallAnswers((event, method) => told.push(`${event} ${method}`), clock)
  const toldNow = () => told.splice(0)
  return { clock, answers, toldNow }
}

const handler = async (params: string) => `${params}!`

t.test('a method is registered at each connect, and again every ten seconds until the server confirms it', async t => {
  const { clock, answers, toldNow } = open()
  const answering = answers.answer('s:one', handler)
  answers.answer('s:two', handler)
  t.same(toldNow(), [], 'not before there is a connection')
  answers.connected()
  t.same(toldNow(), ['rpc-register s:one', 'rpc-register s:two'])
  answers.heardRegistered({ method: 's:one' })
  await answering.registered
  answers.heardRegistered({ method: 's:other' })
  answers.heardRegistered('strange')
  clock.advance(9_999)
  t.same(toldNow(), [])
  clock.advance(1)
  t.same(toldNow(), ['rpc-register s:two'])
  answers.heardRegistered({ method: 's:two' })
  clock.advance(10_000)
  t.same(toldNow(), [])
  t.equal(clock.pending, 0)
  answers.disconnected()
  answers.connected()
  t.same(toldNow(), ['rpc-register s:one', 'rpc-register s:two'], 'a new connection knows none')
  t.equal(clock.pending, 1)
  answers.disconnected()
  t.equal(clock.pending, 0)
  answers.answer('s:three', handler)
  t.same(toldNow(), [])
})

t.test('a method that is no longer answered is withdrawn, unless somebody else answers it by now', t => {
  const { answers, toldNow } = open()
  answers.connected()
  const first = answers.answer('s:one', handler)
  const second = answers.answer('s:one', handler)
  toldNow()
  first.stop()
  t.same(toldNow(), [])
  second.stop()
  t.same(toldNow(), ['rpc-unregister s:one'])
  second.stop()
  t.same(toldNow(), [])
  answers.answer('s:two', handler)
  answers.disconnected()
  toldNow()
  const third = answers.answer('s:three', handler)
  third.stop()
  t.same(toldNow(), [])
  answers.connected()
  t.same(toldNow(), ['rpc-register s:two'])
  t.end()
})

t.test('each request is acknowledged once: with the answer, or with null where there is none', async t => {
  const { answers } = open()
  const order: string[] = []
  answers.answer('s:one', async (params, by, answered) => {
    void answered?.then(() => order.push('answered'))
    return `${params} by ${by}`
  })
  answers.answer('s:broken', () => Promise.reject(new Error('broken')))
  const ask = async (frame: unknown) => {
    const results: unknown[] = []
    answers.heardRequest(frame, result => {
      order.push('acknowledged')
      results.push(result)
    })
    await turn()
    return results
  }
  t.same(await ask({ method: 's:one', params: 'x', by: 'device' }), ['x by device'])
  t.same(order.splice(0), ['acknowledged', 'answered'])
  for (const frame of [
    { method: 's:broken', params: 'x' },
    { method: 's:other', params: 'x' },
    { method: 's:one' },
    { method: 's:one', params: 7 },
    'strange',
    {}
  ])
    t.same(await ask(frame), [null], JSON.stringify(frame))
})
