import t from 'tap'
import { createPrompts, type Prompt } from '../../../lib/wrapper/session/prompts.ts'

const file = { ref: 'sessions/s/attachments/a.enc', name: 'a.png', size: 3 }

function prompts(settled: number[] = []) {
  return createPrompts(
    () => ({ settled }),
    async () => {}
  )
}

function said(seq: number, steer = false): Omit<Prompt, 'attachments'> {
  return { text: `number ${seq}`, meta: steer ? { steer } : undefined, seq, localId: `local-${seq}` }
}

async function all(queue: ReturnType<typeof prompts>): Promise<Prompt[]> {
  const taken: Prompt[] = []
  for await (const prompt of queue) {
    taken.push(prompt)
    if (queue.length === 0) queue.close()
  }
  return taken
}

t.test('one that steers comes before those that wait, and after those that steered before', async t => {
  const queue = prompts()
  for (const prompt of [said(1), said(2, true), said(3), said(4, true)]) queue.offer(prompt)
  t.equal(queue.isUrgent, true)
  t.strictSame(
    (await all(queue)).map(({ seq }) => seq),
    [2, 4, 1, 3]
  )
})

t.test('reasons come before all that waits, the oldest first', async t => {
  const queue = prompts()
  queue.offer(said(1))
  for (const localId of ['first', 'second']) queue.offerReason({ localId, text: localId })
  t.strictSame(
    (await all(queue)).map(({ text }) => text),
    ['first', 'second', 'number 1']
  )
})

t.test('what waited is not lost behind one that came before it', t => {
  const queue = prompts()
  for (const prompt of [said(7), said(8), said(9, true)]) queue.offer(prompt)
  t.equal(queue.takeUrgent()?.seq, 9)
  t.strictSame(queue.settled({ cursor: 6 }, 9), { cursor: 6, settled: [9] }, 'a later process begins with the first that waits')
  queue.withdraw('local-7')
  t.strictSame(queue.settled({ cursor: 6, settled: [9] }, 7), { cursor: 7, settled: [9] })
  queue.withdraw('local-8')
  t.strictSame(queue.settled({ cursor: 7, settled: [9] }, 8), { cursor: 9, settled: [] })
  t.end()
})

t.test('what an earlier process settled is not handed over again, nor what was sent with it', async t => {
  const queue = prompts([8])
  queue.announce(file)
  queue.offer(said(8))
  queue.offer(said(9))
  t.match(await all(queue), [{ seq: 9, attachments: [] }])
})

t.test('a message that waits is withdrawn by its local id, and another stays', async t => {
  const queue = prompts()
  queue.offer(said(1))
  queue.offer(said(2))
  t.equal(queue.withdraw('local-1')?.seq, 1)
  t.equal(queue.withdraw('local-1'), undefined)
  t.match(await all(queue), [{ seq: 2 }])
})

t.test('words that are replaced keep the place and the name of the message, and are settled with it', async t => {
  const queue = prompts()
  for (const prompt of [said(1), said(2), said(3)]) queue.offer(prompt)
  queue.announce(file)
  t.equal(queue.replace({ ...said(4), text: 'better', meta: { replaces: 'local-2', model: 'quick' } }), true)
  t.equal(queue.replace({ ...said(5), text: 'best', meta: { replaces: 'local-2' } }), true)
  t.equal(queue.replace({ ...said(6), meta: { replaces: 'local-9' } }), false)
  const taken = await all(queue)
  t.match(taken, [{ seq: 1 }, { seq: 2, localId: 'local-2', text: 'best', attachments: [], meta: { model: 'quick' } }, { seq: 3 }])
  t.match(taken[1]?.edits, [{ seq: 4 }, { seq: 5 }])
  t.strictSame(prompts().settled({ cursor: 1 }, 2, 4, 5), { cursor: 5, settled: [] })
})

t.test('one that waits is moved before another, and nothing is when one of them waits no more', async t => {
  const queue = prompts()
  for (const prompt of [said(1), said(2), said(3), said(4)]) queue.offer(prompt)
  queue.move('local-4', 'local-2')
  queue.move('local-9', 'local-1')
  queue.move('local-3', 'local-9')
  t.strictSame(
    (await all(queue)).map(({ seq }) => seq),
    [1, 4, 2, 3]
  )
})

t.test('what was sent before a text belongs to it, and not to what is written at the terminal', async t => {
  const queue = prompts()
  queue.announce(file)
  queue.offer({ text: 'here', meta: undefined, seq: undefined, localId: 'own' })
  queue.offer(said(1))
  queue.offer(said(2))
  t.strictSame(
    (await all(queue)).map(({ attachments }) => attachments),
    [[], [file], []]
  )
})

t.test('one that the agent could not be given is tried again before the next that is said, and not without', async t => {
  const queue = prompts()
  for (const prompt of [said(1), said(2)]) queue.offer(prompt)
  const taken: number[] = []
  let isPutBack = false
  const reading = (async () => {
    for await (const prompt of queue) {
      taken.push(prompt.seq ?? 0)
      if (!isPutBack) queue.putBack(prompt)
      isPutBack = true
    }
  })()
  while (!isPutBack) await Promise.resolve()
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(taken, [1])
  t.equal(queue.length, 2)
  queue.offer(said(3))
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(taken, [1, 1, 2, 3])
  queue.close()
  await reading
})

t.test('what waits behind one that the agent could not be given is handed over when that one is withdrawn', async t => {
  const queue = prompts()
  for (const prompt of [said(1), said(2)]) queue.offer(prompt)
  const taken = queue[Symbol.asyncIterator]()
  queue.putBack((await taken.next()).value)
  const next = taken.next()
  await new Promise(resolve => setImmediate(resolve))
  queue.withdraw('local-1')
  t.match(await next, { value: { seq: 2 } })
  queue.close()
})
