import t from 'tap'
import { Refused, type Rest, Unreachable } from '../../../lib/client/index.ts'
import { isDeleted, wasRemoved } from '../../../lib/client/outbox/removals.ts'

/** A server that gives these answers in turn, and what it was asked. */
function answering(...answers: (object | Error)[]) {
  const asked: unknown[] = []
  const call = async (_name: string, { query }: { query: unknown }) => {
    asked.push(query)
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  }
  const look = () => wasRemoved({ call } as unknown as Pick<Rest, 'call'>, 'mine', new AbortController().signal)
  return { asked, look }
}

const page = (changes: object) => ({ complete: true, more: false, clock: 7, epoch: 'one life', removed: [], ...changes })

t.test('a removed session is looked for on every page, each read after the one before', async t => {
  const others = [
    { of: 'machine', id: 'mine' },
    { of: 'session', id: 'another' }
  ]
  const { asked, look } = answering(page({ more: true, removed: others }), page({ removed: [{ of: 'session', id: 'mine' }] }))
  t.equal(await look(), true)
  t.strictSame(asked, [
    { since: 0, began: 0, limit: 500 },
    { since: 7, epoch: 'one life', began: 0, limit: 500 }
  ])
  t.equal(await answering(page({ removed: others })).look(), false)
})

t.test('a server that does not remember everything, or knows no changes, cannot tell', async t => {
  t.equal(await answering(page({ complete: false, removed: [{ of: 'session', id: 'mine' }] })).look(), undefined)
  t.equal(await answering(new Refused(404, 'x')).look(), undefined)
})

t.test('an invalid token, and a server that may answer later, are no answer', async t => {
  for (const error of [new Refused(401, 'x'), new Refused(403, 'x'), new Unreachable('network'), new Error('x')]) {
    await t.rejects(answering(error).look(), error)
  }
})

t.test('a session is deleted only if it is not there and the server knows that it was', async t => {
  const { signal } = new AbortController()
  const looking = async (messages: object | Error, changes: object | Error) => {
    const asked: unknown[] = []
    const call = async (...question: unknown[]) => {
      asked.push(question)
      const answer = question[0] === 'readMessages' ? messages : changes
      if (answer instanceof Error) throw answer
      return answer
    }
    const deleted = await isDeleted({ call } as unknown as Pick<Rest, 'call'>, 'mine', signal)
    return { deleted, asked }
  }
  const removed = page({ removed: [{ of: 'session', id: 'mine' }] })
  const readMessages = ['readMessages', { params: { id: 'mine' }, query: { limit: 1 } }, { signal }]
  t.strictSame(await looking({ messages: [] }, removed), { deleted: false, asked: [readMessages] })
  const { deleted, asked } = await looking(new Refused(404, 'x'), removed)
  t.equal(deleted, true)
  t.strictSame(asked[1], ['readChanges', { query: { since: 0, began: 0, limit: 500 } }, { signal }])
  t.equal((await looking(new Refused(404, 'x'), page({}))).deleted, false)
  t.equal((await looking(new Refused(404, 'x'), page({ complete: false }))).deleted, false)
  for (const error of [new Refused(401, 'x'), new Unreachable('network'), Object.assign(new Error('x'), { status: 404 })])
    await t.rejects(looking(error, removed), error)
})
