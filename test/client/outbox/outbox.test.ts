import assert from 'node:assert/strict'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import { createMemoryJournal, type Journal } from '../../../lib/client/outbox/journal.ts'
import { type Outbox, OutboxFull, openOutbox } from '../../../lib/client/outbox/outbox.ts'
import type { Draft } from '../../../lib/client/sealed/messages.ts'
import { localId } from '../../../lib/protocol/wire/ids.ts'
import type { MessageReceipt, MessageRecord } from '../../../lib/protocol/wire/records.ts'
import * as v from '../../../lib/schema.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { FakeLink, messageAt, turn } from '../link/fake-link.ts'
import { draft } from './journal-contract.ts'

type Sent = Pick<Draft, 'localId' | 'content'>
interface Request {
  session: string
  ids: string[]
  accept(): Promise<void>
  fail(error: Error): Promise<void>
  /** The server stores it, but the answer is lost. */
  lose(): Promise<void>
}

/** An outbox over a server that stores each localId once and answers when the test says so. */
async function openWorld({
  journal = createMemoryJournal(),
  ...limits
}: {
  journal?: Journal
  limitBytes?: number
  gatherMs?: number
  onStored?: () => void
  onDropped?: (drafts: readonly Draft[]) => void
} = {}) {
  const clock = manualClock()
  const link = new FakeLink()
  const stored: string[] = []
  const told: MessageRecord[] = []
  const setAside: string[] = []
  const states: string[] = []
  const requests: Request[] = []

  const store = (messages: readonly Sent[]): MessageReceipt[] =>
    messages.map(({ localId }) => {
      if (!stored.includes(localId)) stored.push(localId)
      return { ...messageAt(stored.indexOf(localId) + 1), localId: localId as MessageReceipt['localId'] }
    })
  const send = (session: string, messages: readonly Sent[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly MessageReceipt[]>()
    const end = async (work: () => void) => {
      requests.splice(requests.indexOf(request), 1)
      work()
      await turn()
    }
    const request: Request = {
      session,
      ids: messages.map(({ localId }) => localId),
      accept: () => end(() => resolve(store(messages))),
      fail: error => end(() => reject(error)),
      lose: () =>
        end(() => {
          store(messages)
          reject(new Unreachable('network'))
        })
    }
    requests.push(request)
    return promise
  }
  const outbox: Outbox = await openOutbox({
    journal,
    send,
    socket: link,
    onStored: messages => told.push(...messages),
    onSetAside: draft => void setAside.push(draft.localId),
    onState: state => states.push(state.type),
    clock,
    random: () => 1,
    ...limits
  })
  await turn()
  return {
    outbox,
    clock,
    link,
    stored,
    told,
    setAside,
    states,
    requests,
    request: () => requests[0] ?? assert.fail('no request is under way')
  }
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`)

t.test('a draft is in the journal before it counts as accepted and before it is sent [W1]', async t => {
  const journal = createMemoryJournal()
  const written = Promise.withResolvers<void>()
  const { outbox, requests } = await openWorld({
    journal: {
      ...journal,
      append: async drafts => {
        await written.promise
        await journal.append(drafts)
      }
    }
  })
  let isTaken = false
  const put = outbox.put(draft('a')).then(() => {
    isTaken = true
  })
  await turn()
  t.notOk(isTaken)
  t.equal(requests.length, 0)
  written.resolve()
  await put
  await turn()
  t.equal(requests.length, 1)
})

t.test('drafts are sent in order, one request at a time, at most fifty each', async t => {
  const { outbox, requests, request, stored } = await openWorld()
  await Promise.all(ids(120).map(id => outbox.put(draft(id))))
  await turn()
  const sizes: number[] = []
  while (requests.length > 0) {
    t.equal(requests.length, 1)
    sizes.push(request().ids.length)
    await request().accept()
  }
  t.strictSame(stored, ids(120))
  t.ok(sizes.every(size => size <= 50))
  t.ok(sizes.length <= 4, 'they travel together')
})

t.test('drafts close together are sent together, the first at once', async t => {
  const world = await openWorld({ gatherMs: 50 })
  await world.outbox.put(draft('a'))
  await turn()
  t.strictSame(world.requests[0]?.ids, ['a'])
  world.clock.advance(10)
  await world.requests[0]?.accept()
  for (const id of ['b', 'c']) {
    await world.outbox.put(draft(id))
    await turn()
  }
  t.strictSame(world.requests, [])
  world.clock.advance(40)
  await turn()
  t.strictSame(world.requests[0]?.ids, ['b', 'c'])
  await world.requests[0]?.accept()
  await world.outbox.idle()
  world.clock.advance(50)
  await world.outbox.put(draft('d'))
  await turn()
  t.strictSame(world.requests[0]?.ids, ['d'])
})

t.test('a request holds at most one mebibyte, unless a single message is larger', async t => {
  const { outbox, request } = await openWorld()
  const content = 'A'.repeat(400_000)
  const puts = [draft('a', { content }), draft('b', { content }), draft('c', { content }), draft('d', { content: 'A'.repeat(2_000_000) })]
  await Promise.all(puts.map(put => outbox.put(put)))
  await turn()
  const batches: string[][] = []
  while (outbox.pending.length > 0) {
    batches.push(request().ids)
    await request().accept()
  }
  t.strictSame(batches, [['a', 'b'], ['c'], ['d']])
})

t.test('drafts left by a crashed process are sent first [W1]', async t => {
  const { outbox, request, stored } = await openWorld({ journal: createMemoryJournal([draft('old')]) })
  t.equal(outbox.state.type, 'sending')
  await outbox.put(draft('new'))
  await request().accept()
  await request().accept()
  t.strictSame(stored, ['old', 'new'])
})

t.test('a server that is out of space is retried, and distinguished from an unreachable one [F1]', async t => {
  t.intercept(Date, 'now', { value: () => 1_700_000_000_000 })
  const { outbox, request, clock, stored } = await openWorld()
  await outbox.put(draft('a'))
  await request().fail(new Unreachable('server-error', { status: 507, code: 'The server is out of space' }))
  t.strictSame(outbox.state, { type: 'waiting', reason: 'The server is failing.', nextTryAt: 1_700_000_000_500, isFull: true })
  clock.advance(500)
  await turn()
  await request().fail(new Unreachable('network'))
  t.strictSame(outbox.state, { type: 'waiting', reason: 'The server cannot be reached.', nextTryAt: 1_700_000_001_000, isFull: false })
  clock.advance(1000)
  await turn()
  await request().accept()
  t.strictSame(stored, ['a'])
})

t.test('a retry after a lost answer is stored once and leaves the journal [X1]', async t => {
  const journal = createMemoryJournal()
  const { outbox, request, clock, stored } = await openWorld({ journal })
  await outbox.put(draft('a'))
  await turn()
  await request().lose()
  t.match(outbox.state, { type: 'waiting' })
  clock.advance(500)
  await turn()
  await request().accept()
  await outbox.idle()
  t.strictSame(stored, ['a'])
  await turn()
  t.strictSame(await journal.load(), [])
})

t.test('waits grow to five seconds and have jitter, and a live link ends them at once', async t => {
  const { outbox, requests, request, clock, link } = await openWorld()
  await outbox.put(draft('a'))
  await turn()
  for (const waitMs of [500, 1000, 2000, 4000, 5000, 5000]) {
    await request().fail(new Unreachable('server-error', { status: 503 }))
    clock.advance(waitMs - 1)
    await turn()
    t.equal(requests.length, 0)
    clock.advance(1)
    await turn()
    t.equal(requests.length, 1)
  }
  await request().fail(new Unreachable('network'))
  link.up()
  await turn()
  t.equal(requests.length, 1)
})

t.test('the outbox waits as long as the server asks', async t => {
  const { outbox, requests, request, clock } = await openWorld()
  await outbox.put(draft('a'))
  await turn()
  await request().fail(new Refused(429, 'Too Many Requests', 60_000))
  clock.advance(59_999)
  await turn()
  t.equal(requests.length, 0)
  clock.advance(1)
  await turn()
  t.equal(requests.length, 1)
})

for (const status of [400, 413]) {
  t.test(`a message rejected with ${status} is set aside, and its neighbours arrive in order [W5]`, async t => {
    const { outbox, requests, request, stored, setAside } = await openWorld()
    await Promise.all(ids(40).map(id => outbox.put(draft(id))))
    await turn()
    let asked = 0
    for (; requests.length > 0; asked++) {
      if (request().ids.includes('m17')) await request().fail(new Refused(status, 'no'))
      else await request().accept()
    }
    t.strictSame(setAside, ['m17'])
    t.strictSame(
      stored,
      ids(40).filter(id => id !== 'm17')
    )
    t.ok(asked < 20, `took ${asked} requests`)
  })
}

for (const [status, why] of [
  [404, 'Session not found'],
  [409, 'The session has no numbers left']
] as const)
  t.test(`messages of a session that stores none (${status}) are set aside together, and those of other sessions arrive [W5]`, async t => {
    const { outbox, requests, request, stored, setAside } = await openWorld()
    await Promise.all([outbox.put(draft('a')), outbox.put(draft('b')), outbox.put(draft('c', { session: 's2' }))])
    await turn()
    let isIdle = false
    const idle = outbox.idle().then(() => (isIdle = true))
    await turn()
    t.notOk(isIdle, 'with messages on their way')
    let asked = 0
    for (; requests.length > 0; asked++) {
      if (request().session === 's1') await request().fail(new Refused(status, why))
      else await request().accept()
    }
    t.strictSame(setAside, ['a', 'b'])
    t.strictSame(stored, ['c'])
    t.equal(asked, 2, 'all in one request')
    await idle
  })

t.test('a new connection sends again what may have been lost with the old one', async t => {
  const signals: AbortSignal[] = []
  const outbox = await openOutbox({
    journal: createMemoryJournal([draft('a')]),
    onSetAside() {},
    send: (_session, _drafts, signal) => {
      if (signal) signals.push(signal)
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    },
    clock: manualClock()
  })
  await turn()
  t.equal(signals.length, 1)
  outbox.restart()
  await turn()
  t.match(signals, [{ aborted: true }, { aborted: false }])
  await outbox.close()
})

t.test('a set-aside draft stored nowhere else stays in the journal, and is not reported as pending', async t => {
  const journal = createMemoryJournal([draft('a')])
  const pending: number[] = []
  const outbox = await openOutbox({
    journal,
    send: () => Promise.reject(new Refused(400, 'no')),
    onSetAside: () => Promise.reject(new Error('disk full')),
    onChange: drafts => pending.push(drafts.length)
  })
  await outbox.idle()
  t.strictSame(await journal.load(), [draft('a')])
  t.equal(pending.at(-1), outbox.pending.length)
})

t.test('with an invalid token everything is kept and requests stop', async t => {
  const { outbox, requests, request, stored, setAside } = await openWorld()
  await outbox.put(draft('a'))
  await turn()
  await request().fail(new Refused(401, 'Invalid token'))
  t.equal(outbox.state.type, 'refused')
  await outbox.put(draft('b'))
  await turn()
  t.equal(requests.length, 0)
  t.strictSame(setAside, [])
  outbox.wake()
  await turn()
  await request().accept()
  t.strictSame(stored, ['a', 'b'])
})

t.test('a waiting draft can be withdrawn, and the outbox says whether the server may have it', async t => {
  const { outbox, request, clock, stored } = await openWorld()
  await outbox.put(draft('a'))
  await turn()
  t.equal(await outbox.withdraw(draft('a')), 'too-late', 'it is on its way')
  await outbox.put(draft('b'))
  t.equal(await outbox.withdraw(draft('b')), 'withdrawn')
  await request().fail(new Unreachable('network'))
  t.equal(await outbox.withdraw(draft('a')), 'perhaps-stored')
  clock.advance(500)
  await outbox.idle()
  t.strictSame(stored, [])
  t.equal(await outbox.withdraw(draft('a')), 'too-late', 'it is no longer here')
})

t.test('a draft that the server may have stays so however often it is withdrawn and added again, until it is sent', async t => {
  const { outbox, request, clock } = await openWorld()
  await outbox.put(draft('a'))
  await turn()
  await request().fail(new Unreachable('network'))
  for (const attempt of ['first', 'second']) {
    t.equal(await outbox.withdraw(draft('a')), 'perhaps-stored', attempt)
    await outbox.put(draft('a', { content: 'Qg==' }))
  }
  clock.advance(500)
  await turn()
  await request().accept()
  t.equal(await outbox.withdraw(draft('a')), 'too-late')
})

t.test('a draft that was tried, withdrawn and added again is sent with its new text', async t => {
  const { outbox, request, clock, told } = await openWorld()
  await outbox.put(draft('a', { content: 'QQ==' }))
  await turn()
  await request().fail(new Unreachable('network'))
  await outbox.withdraw(draft('a'))
  await outbox.put(draft('a', { content: 'Qg==' }))
  clock.advance(500)
  await turn()
  await request().accept()
  t.match(told, [{ localId: 'a', content: { c: 'Qg==' } }])
})

t.test('stored drafts are reported with content and seq, in order', async t => {
  const { outbox, request, told } = await openWorld()
  await Promise.all([outbox.put(draft('a', { content: 'QQ==' })), outbox.put(draft('b', { content: 'Qg==' }))])
  await turn()
  await request().accept()
  if (outbox.pending.length > 0) await request().accept()
  t.match(told, [
    { seq: 1, localId: 'a', content: { t: 'encrypted', c: 'QQ==' } },
    { seq: 2, localId: 'b', content: { t: 'encrypted', c: 'Qg==' } }
  ])
})

t.test('drafts above the limit are rejected, and accepted again when others have been sent', async t => {
  const { outbox, request } = await openWorld({ limitBytes: 1000 })
  await outbox.put(draft('a', { content: 'A'.repeat(800) }))
  await t.rejects(outbox.put(draft('b', { content: 'A'.repeat(800) })), OutboxFull)
  await turn()
  await request().accept()
  await outbox.put(draft('b', { content: 'A'.repeat(800) }))
})

t.test('a mandatory draft is accepted over the limit and counts against it [W3]', async t => {
  const { outbox, request } = await openWorld({ limitBytes: 400 })
  await outbox.put(draft('a'))
  await outbox.put(draft('b', { content: 'A'.repeat(400) }), { beyondLimit: true })
  await t.rejects(outbox.put(draft('c')), OutboxFull)
  await turn()
  await request().accept()
  await request().accept()
  await outbox.idle()
  await outbox.put(draft('c'))
})

t.test('passing drafts make room for a newer one: the oldest that is not being sent, and no more than needed [W3]', async t => {
  const dropped: string[][] = []
  const onDropped = (drafts: readonly Draft[]) => void dropped.push(drafts.map(({ localId }) => localId))
  const { outbox } = await openWorld({ limitBytes: 700, onDropped })
  const large = (localId: string) => draft(localId, { content: 'A'.repeat(100) })
  for (const localId of ['sent', 'old', 'new']) await outbox.put({ ...large(localId), isPassing: true })
  t.same(dropped, [], 'nothing is dropped while there is room')
  await outbox.put(large('last'))
  t.same(dropped, [['old']])
  t.same(
    outbox.pending.map(({ localId }) => localId),
    ['sent', 'new', 'last']
  )
})

t.test('a failing journal rejects the draft and accepts the next one', async t => {
  const journal = createMemoryJournal()
  let isBroken = true
  const { outbox } = await openWorld({
    journal: { ...journal, append: drafts => (isBroken ? Promise.reject(new Error('disk full')) : journal.append(drafts)) }
  })
  await t.rejects(outbox.put(draft('a')), { message: 'disk full' })
  await outbox.idle()
  isBroken = false
  await outbox.put(draft('b'))
  t.strictSame(
    outbox.pending.map(({ localId }) => localId),
    ['b']
  )
})

/** A journal that writes only when the test says so, and how often it was asked to. */
function heldJournal() {
  const journal = createMemoryJournal()
  const written = Promise.withResolvers<void>()
  const held = {
    ...journal,
    appends: 0,
    async append(drafts: readonly Draft[]) {
      held.appends++
      await written.promise
      await journal.append(drafts)
    },
    write: written.resolve
  }
  return held
}

t.test('the outbox is not idle while a draft is written to the journal', async t => {
  const journal = heldJournal()
  const { outbox, request } = await openWorld({ journal })
  const put = outbox.put(draft('a'))
  await turn()
  let isIdle = false
  const idle = outbox.idle().then(() => {
    isIdle = true
  })
  await turn()
  t.notOk(isIdle)
  journal.write()
  await put
  await turn()
  t.notOk(isIdle)
  await request().accept()
  await idle
})

t.test('an outbox closes its journal once that has what was put', async t => {
  const journal = heldJournal()
  let isClosed = false
  const close = async () => {
    isClosed = true
  }
  const { outbox } = await openWorld({ journal: Object.assign(journal, { close }) })
  const put = outbox.put(draft('a'))
  await turn()
  const closing = outbox.close()
  await turn()
  t.notOk(isClosed)
  journal.write()
  await Promise.all([put, closing])
  t.ok(isClosed)
  t.match(await journal.load(), [{ localId: 'a' }])
})

t.test('an outbox is closed once its journal is', async t => {
  const closed = Promise.withResolvers<void>()
  const { outbox } = await openWorld({ journal: { ...createMemoryJournal(), close: () => closed.promise } })
  let isClosed = false
  const closing = outbox.close().then(() => (isClosed = true))
  await turn()
  t.notOk(isClosed)
  closed.resolve()
  await closing
})

t.test('a draft put again before the journal has it is written once and takes its room once', async t => {
  const journal = heldJournal()
  const { outbox, request } = await openWorld({ journal, limitBytes: 1000 })
  const large = draft('a', { content: 'A'.repeat(400) })
  const puts = [outbox.put(large), outbox.put(large)]
  await turn()
  puts.push(outbox.put(large))
  journal.write()
  await Promise.all(puts)
  t.equal(journal.appends, 1)
  await turn()
  await request().accept()
  await outbox.put(draft('b', { content: 'A'.repeat(800) }))
})

for (const call of ['wake', 'restart'] as const)
  t.test(`after a listener failed, ${call} sends again`, async t => {
    let isBroken = true
    const onStored = () => {
      if (isBroken) throw new Error('the listener failed')
    }
    const { outbox, requests, request } = await openWorld({ onStored })
    const rejected = nextUnhandled(t)
    await outbox.put(draft('a'))
    await turn()
    await request().accept()
    t.match(await rejected, { message: 'the listener failed' })
    t.equal(requests.length, 0)
    isBroken = false
    outbox[call]()
    await turn()
    await request().accept()
    await outbox.idle()
    t.equal(outbox.state.type, 'idle')
  })

/** The next rejection that nobody handles, in place of the end of this program. */
function nextUnhandled(t: Test): Promise<unknown> {
  const others = process.rawListeners('unhandledRejection') as NodeJS.UnhandledRejectionListener[]
  process.removeAllListeners('unhandledRejection')
  t.teardown(() => {
    for (const listener of others) process.on('unhandledRejection', listener)
  })
  return new Promise(resolve => process.once('unhandledRejection', resolve))
}

t.test('closing keeps pending drafts and rejects new ones', async t => {
  const journal = createMemoryJournal()
  const { outbox } = await openWorld({ journal: { ...journal, close: async () => {} } })
  await outbox.put(draft('a'))
  await outbox.close()
  await t.rejects(outbox.put(draft('b')))
  t.strictSame(await journal.load(), [draft('a')])
})

t.test('through any losses and crashes, each message is stored once and in order [W1 X1]', async () => {
  const outcome = fc.constantFrom('accept', 'lose', 'fail', 'put', 'put', 'crash')
  await fc.assert(
    fc.asyncProperty(fc.array(outcome, { maxLength: 30 }), async outcomes => {
      let journal = createMemoryJournal()
      const stored: string[] = []
      const accepted: string[] = []
      let world = await openWorld({ journal })
      const end = async (how: 'accept' | 'lose' | 'fail') => {
        const request = world.requests[0]
        if (how === 'fail') await request?.fail(new Unreachable('network'))
        else await request?.[how]()
        for (const id of world.stored) if (!stored.includes(id)) stored.push(id)
        world.clock.advance(60_000)
        await turn()
      }
      for (const how of [...outcomes, ...ids(40).map(() => 'accept' as const)]) {
        if (how === 'put') {
          const id = `p${accepted.length}`
          await world.outbox.put(draft(id))
          accepted.push(id)
        } else if (how === 'crash') {
          journal = createMemoryJournal(await journal.load())
          world = await openWorld({ journal })
        } else await end(how)
      }
      assert.deepEqual(stored, accepted)
    }),
    { numRuns: 150 }
  )
})

t.test('a draft added just as the last batch ends is sent too', async t => {
  // Between the end of a batch and the outbox resting lie a few turns of the event loop: the second put comes in each of them once.
  for (let ticks = 0; ticks < 30; ticks++) {
    const sent: string[] = []
    const outbox = await openOutbox({
      journal: createMemoryJournal(),
      onSetAside() {},
      async send(_session, drafts) {
        sent.push(...drafts.map(({ localId }) => localId))
        return drafts.map(({ localId: named }, index) => ({ ...messageAt(sent.length + index), localId: v.parse(localId, named) }))
      },
      onStored: () => void (sent.length === 1 && putAfter(ticks))
    })
    const putAfter = async (ticks: number) => {
      for (let tick = 0; tick < ticks; tick++) await undefined
      await outbox.put(draft('b'))
    }
    await outbox.put(draft('a'))
    await turn()
    await turn()
    t.same(sent, ['a', 'b'], `${ticks} ticks later`)
    t.equal(outbox.pending.length, 0)
    await outbox.close()
  }
})

t.test('a closed outbox listens to no connection, and says that it is closed once', async t => {
  const link = new FakeLink()
  let listeners = 0
  const onState = (listener: Parameters<FakeLink['onState']>[0]) => {
    listeners++
    const unlisten = link.onState(listener)
    return () => {
      listeners--
      unlisten()
    }
  }
  const states: string[] = []
  const changes: number[] = []
  const journal = createMemoryJournal()
  const outbox = await openOutbox({
    journal,
    socket: Object.assign(Object.create(link), { onState }),
    onSetAside() {},
    onStored() {},
    send: () => new Promise(() => {}),
    onState: ({ type }) => void states.push(type),
    onChange: waiting => void changes.push(waiting.length)
  })
  t.equal(listeners, 1)
  await outbox.put(draft('a'))
  t.strictSame([states, changes], [['sending'], [0, 1]])
  await outbox.close()
  t.equal(listeners, 0)
  await outbox.close()
  t.strictSame(states, ['sending', 'closed'])
  await t.rejects(outbox.put(draft('b')), { message: 'the outbox was closed' })
})

t.test('an answer that comes after the close changes nothing that is told', async t => {
  for (const end of ['accept', 'fail'] as const) {
    const { outbox, request, states } = await openWorld()
    await outbox.put(draft('a'))
    await turn()
    const underway = request()
    const closing = outbox.close()
    await underway[end](new Unreachable('network'))
    await closing
    await turn()
    t.equal(outbox.state.type, 'closed')
    t.strictSame(states, ['sending', 'closed'])
  }
})
