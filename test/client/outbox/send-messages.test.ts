import t from 'tap'
import { Refused, type Rest, Unreachable } from '../../../lib/client/index.ts'
import { recordsOf, sendOver } from '../../../lib/client/outbox/send-messages.ts'
import { messageAt } from '../link/fake-link.ts'
import { draft } from './journal-contract.ts'

const { signal } = new AbortController()

function answering(answer: object | Error) {
  const asked: unknown[] = []
  const call = async (...question: unknown[]) => {
    asked.push(question)
    if (answer instanceof Error) throw answer
    return answer
  }
  const send = sendOver({ call } as unknown as Pick<Rest, 'call'>)
  return { asked, send: () => send('s1', [draft('a'), draft('b', { content: 'Yg==' })], signal) }
}

t.test('messages of one session are sent in one request, with two minutes for a slow phone', async t => {
  const { asked, send } = answering({ messages: [messageAt(1), messageAt(2)] })
  t.strictSame(await send(), [messageAt(1), messageAt(2)])
  const messages = [
    { localId: 'a', content: 'aGk=' },
    { localId: 'b', content: 'Yg==' }
  ]
  t.strictSame(asked, [['appendMessages', { params: { id: 's1' }, body: { messages } }, { signal, timeoutMs: 120_000 }]])
})

t.test('messages wait for a server that does not know its own name; every other refusal is one', async t => {
  const misdirected = new Refused(421, 'Misdirected')
  await t.rejects(answering(misdirected).send(), { name: 'Unreachable', reason: 'strange-answer', status: 421, cause: misdirected })
  for (const error of [
    new Refused(420, 'x'),
    new Refused(400, 'x'),
    new Unreachable('network'),
    Object.assign(new Error('x'), { status: 421 })
  ])
    await t.rejects(answering(error).send(), error)
})

t.test('the answer to each message is joined with what was sent; answers to nothing of this are dropped', t => {
  const { content: _, ...receipt } = messageAt(1)
  const [one, two] = [
    { ...receipt, localId: 'a' as never },
    { ...receipt, id: 'm2', seq: 2, localId: 'b' as never }
  ]
  const drafts = [draft('b', { content: 'Yg==' }), draft('a')]
  t.strictSame(recordsOf([one, { ...receipt, localId: 'other' as never }, { ...receipt, localId: null }, two], drafts), [
    { ...one, content: { t: 'encrypted', c: 'aGk=' } },
    { ...two, content: { t: 'encrypted', c: 'Yg==' } }
  ])
  t.end()
})
