import t from 'tap'
import { Refused } from '../../../lib/client/index.ts'
import { invite, isOwner, readPeople } from '../../../web/settings/people.ts'
import { readSessionSizes, readStorage } from '../../../web/settings/server-storage.ts'

/** A server with this answer, or this error, to each call. */
function server(answers: Record<string, unknown>) {
  const asked: unknown[] = []
  const call = async (name: string, given: object) => {
    asked.push([name, given])
    const answer = answers[name]
    if (answer instanceof Error) throw answer
    return answer
  }
  return { asked, link: { rest: { server: '', call } } as never }
}

const signups = [{ fingerprint: 'lunar-maple' }]
const invites = [{ id: 'i1' }]

t.test('the owner sees who waits and who is invited', async t => {
  t.match(await readPeople(server({ listSignups: { signups }, listInvites: { invites } }).link), { waiting: signups, invites })
  t.equal(isOwner.value, true)
})

t.test('who does not own the server, or has one without an owner, is told so; any other failure is one', async t => {
  for (const status of [403, 404]) {
    isOwner.value = undefined
    const { link } = server({ listSignups: new Refused(status, 'x'), listInvites: { invites } })
    t.equal(await readPeople(link), 'not-owner')
    t.equal(isOwner.value, false)
  }
  isOwner.value = undefined
  for (const error of [new Refused(401, 'x'), new Refused(500, 'x'), new Error('no connection')]) {
    await t.rejects(readPeople(server({ listSignups: error, listInvites: { invites } }).link), error)
  }
  t.equal(isOwner.value, undefined)
})

t.test('an invitation is a link to this server, with a label if there is one', async t => {
  t.intercept(globalThis, 'location', { value: { origin: 'https://home.example' } })
  const { asked, link } = server({ createInvite: { code: 'abc' } })
  t.equal(await invite(link, 'Jon'), 'https://home.example/#invite=abc')
  await invite(link, '')
  t.strictSame(asked, [
    ['createInvite', { body: { label: 'Jon' } }],
    ['createInvite', { body: {} }]
  ])
})

t.test('a server that does not report storage is told apart from one that fails', async t => {
  const storage = { used: 1 }
  t.same(await readStorage(server({ readStorage: storage }).link), storage)
  t.equal(await readStorage(server({ readStorage: new Refused(404, 'x') }).link), 'unsupported')
  for (const error of [new Refused(403, 'x'), new Refused(500, 'x'), new Error('no connection')]) {
    await t.rejects(readStorage(server({ readStorage: error }).link), error)
  }
})

t.test('sizes that cannot be read leave the list without sizes', async t => {
  const sessions = [
    { id: 's1', bytes: 7 },
    { id: 's2', bytes: 0 }
  ]
  t.same(
    [...(await readSessionSizes(server({ readSessionSizes: { sessions } }).link))],
    [
      ['s1', 7],
      ['s2', 0]
    ]
  )
  t.equal((await readSessionSizes(server({ readSessionSizes: new Error('no connection') }).link)).size, 0)
})
