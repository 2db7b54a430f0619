import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cryptoReady, engine } from '../../../../lib/crypto/index.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { call, signInBody } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

const asksForCode = { status: 403, body: { error: 'setup-code-required' } }
const locked = { status: 429, body: { error: 'Too many wrong setup codes. Try again in a minute.' } }
const closed = { status: 403, body: { error: 'This server accepts no new accounts.' } }

async function tryToEnter(server: { url: string }, setupCode?: string, secret = engine.randomBytes(32)) {
  await cryptoReady()
  const body = { ...(await signInBody(secret)), ...(setupCode !== undefined && { setupCode }) }
  const answer = await call(server, 'POST', '/v1/auth', { body })
  return { answer, secret }
}

t.before(() => cryptoReady())

t.test('the first account needs the setup code, and then sign-up is closed [A9]', async t => {
  const server = await startServer(t, { signup: 'owner' })
  const code = server.setupCode?.code ?? ''
  t.match(code, /^[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}$/)
  t.same((await tryToEnter(server)).answer, asksForCode)
  t.same((await tryToEnter(server, 'AAAA-AAAA')).answer, asksForCode)

  const { answer, secret } = await tryToEnter(server, code)
  t.equal(answer.status, 200)
  t.same((await tryToEnter(server)).answer, closed)
  t.same((await tryToEnter(server, code)).answer, closed, 'the code is used up')
  t.equal((await tryToEnter(server, undefined, secret)).answer.status, 200, 'the owner signs in without it')
})

t.test('the code is in a private file, survives a restart and is deleted once used', async t => {
  const data = t.testdir()
  const first = await startServer(t, { data, signup: 'owner' })
  const file = join(data, 'setup-code')
  t.equal(first.setupCode?.file, file)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(readFileSync(file, 'utf8').trim(), first.setupCode?.code)
  await first.close()

  const second = await startServer(t, { data, signup: 'owner' })
  t.equal(second.setupCode?.code, first.setupCode?.code)
  t.equal((await tryToEnter(second, second.setupCode?.code)).answer.status, 200)
  t.notOk(existsSync(file))
  await second.close()

  const third = await startServer(t, { data, signup: 'owner' })
  t.equal(third.setupCode, undefined)
  t.notOk(existsSync(file))
  t.same((await tryToEnter(third)).answer, closed)
})

t.test('people may write the code as they like', async t => {
  const server = await startServer(t, { signup: 'owner' })
  const code = server.setupCode?.code ?? ''
  const { answer } = await tryToEnter(server, ` ${code.toLowerCase().replace('-', ' ')} `)
  t.equal(answer.status, 200)
})

t.test('ten wrong codes block attempts for a minute, with the right code too', async t => {
  const clock = manualClock()
  const server = await startServer(t, { signup: 'owner', clock })
  const code = server.setupCode?.code ?? ''
  for (let time = 1; time < 10; time += 1) t.same((await tryToEnter(server, 'AAAA-AAAA')).answer, asksForCode, `wrong code ${time}`)
  t.same((await tryToEnter(server, 'AAAA-AAAA')).answer, locked, 'the tenth')
  t.same((await tryToEnter(server, code)).answer, locked)
  clock.advance(59_999)
  t.same((await tryToEnter(server, code)).answer, locked)
  clock.advance(1)
  t.equal((await tryToEnter(server, code)).answer.status, 200)
})

t.test('every ten more wrong codes block again', async t => {
  const clock = manualClock()
  const server = await startServer(t, { signup: 'owner', clock })
  for (let round = 0; round < 3; round += 1) {
    for (let time = 1; time < 10; time += 1) await tryToEnter(server, 'AAAA-AAAA')
    t.same((await tryToEnter(server, 'AAAA-AAAA')).answer, locked)
    clock.advance(60_000)
    t.same((await tryToEnter(server)).answer, asksForCode)
  }
})

t.test('a missing code blocks nothing: existing apps send none', async t => {
  const server = await startServer(t, { signup: 'owner' })
  for (let time = 0; time < 12; time += 1) t.same((await tryToEnter(server)).answer, asksForCode)
})

t.test('of two concurrent uses of the code, one becomes the owner', async t => {
  const server = await startServer(t, { signup: 'owner' })
  const code = server.setupCode?.code
  const answers = await Promise.all([tryToEnter(server, code), tryToEnter(server, code)])
  t.same(answers.map(({ answer }) => answer.status).toSorted(), [200, 403])
})

t.test('neither an open nor a closed server has a code', async t => {
  for (const signup of ['open', 'closed'] as const) {
    const data = t.testdir({ [signup]: {} })
    const server = await startServer(t, { signup, data: join(data, signup) })
    t.equal(server.setupCode, undefined)
    t.notOk(existsSync(join(server.data, 'setup-code')))
  }
})
