import t from 'tap'
import { Refused, type Rest, Unreachable } from '../../../lib/client/index.ts'
import { wasRemoved } from '../../../lib/client/outbox/removals.ts'

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
