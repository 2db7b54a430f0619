import { chmodSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { examineComputer } from '../../../lib/wrapper/account/health.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { readPolicy } from '../../../lib/wrapper/session/methods/policy.ts'
import { startServer } from '../../kit/server.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('a computer lists its problems, in lines with what to do', async t => {
  const server = await startServer(t)
  const { home } = await linkedComputer(t, server)
  const env = { PATH: '/nowhere', XDG_CONFIG_HOME: join(home, '..', 'none') }
  const look = async (now = Date.now) => {
    const found = await examineComputer({ home: openHome({ AFIELD_HOME: home }), env, fetch, now })
    return Object.fromEntries(found.map(finding => [finding.of, finding]))
  }
  mkdirSync(join(home, 'compiled'))
  chmodSync(join(home, 'compiled'), 0o755)
  t.match(await look(), {
    'wrapper folder': { state: 'ok' },
    link: { state: 'ok', says: `linked to an account on ${server.url}` },
    'home server': { state: 'ok' },
    'clock here': { state: 'ok' },
    agents: { state: 'warn', says: /none found/ },
    daemon: { state: 'warn', says: /not running/, advice: /daemon start/ },
    undelivered: { state: 'ok', says: 'nothing is waiting' },
    processes: { state: 'ok' }
  })
  t.match(await look(() => Date.now() - 3_600_000), { 'clock here': { state: 'warn', says: /3\d\d\d s behind the server’s clock/ } })

  chmodSync(join(home, 'compiled'), 0o777)
  t.match(await look(), { 'wrapper folder': { state: 'fail', says: /compiled/ } })
  chmodSync(join(home, 'compiled'), 0o755)
  chmodSync(join(home, 'credentials.json'), 0o644)
  writeFileSync(join(home, 'policy.json'), '{ "folders": ["relative"] }', { mode: 0o600 })
  await server.close()
  t.match(await look(), {
    'wrapper folder': { state: 'fail', says: /credentials\.json/, advice: /chmod/ },
    'home server': { state: 'fail', says: /is not responding \(\w+\)/ },
    'allowed folders': { state: 'fail', says: /nothing is allowed/ }
  })
  const doctor = runWrapper(t, { home, args: ['doctor', '--data', join(home, '..', 'no-data')] })
  t.equal(await doctor.ended, 1)
  t.match(doctor.output, /fail +home server/)
  t.notMatch(doctor.output, /data directory/, 'no server is kept here')
})

t.test('every right of others to the wrapper folder counts, of the group and of all', async t => {
  const own = t.testdir({ home: { 'credentials.json': '{}' } })
  const home = join(own, 'home')
  const stateAt = async (mode: number) => {
    chmodSync(join(home, 'credentials.json'), mode)
    const found = await examineComputer({ home: openHome({ AFIELD_HOME: home }), env: { PATH: '/nowhere' }, fetch, now: Date.now })
    return found.find(({ of }) => of === 'wrapper folder')?.state
  }
  chmodSync(home, 0o700)
  t.equal(await stateAt(0o600), 'ok')
  for (const bit of [0o040, 0o020, 0o010, 0o004, 0o002, 0o001]) t.equal(await stateAt(0o600 | bit), 'fail', bit.toString(8))
})

t.test('the allowed folder that is gone is the one to remove', async t => {
  const own = t.testdir({ home: {}, first: {} })
  const [home, first, gone] = [join(own, 'home'), join(own, 'first'), join(own, 'gone')]
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: [first, gone] }))
  const found = await examineComputer({ home: openHome({ AFIELD_HOME: home }), env: { PATH: '/nowhere' }, fetch, now: Date.now })
  const finding = found.find(({ of }) => of === 'allowed folders')
  t.match(finding, { state: 'warn', says: `${gone} does not exist` })
  t.equal(finding?.advice?.split('allow --remove ')[1], gone)
})

t.test('a server that is not Afield does not count as healthy', async t => {
  const other = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('It works!'))
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => other.close())
  const home = openHome({ AFIELD_HOME: join(t.testdir(), 'home') })
  const address = other.address()
  const server = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const found = await examineComputer({ home, env: { PATH: '/nowhere', AFIELD_SERVER: server }, fetch, now: Date.now })
  t.match(
    found.find(({ of }) => of === 'home server'),
    { state: 'fail', says: /is not an Afield server/ }
  )
})

t.test('the answer of the server is read to its end, or its connection would keep the process running', async t => {
  const server = await startServer(t)
  const { home } = await linkedComputer(t, server)
  const answers: Response[] = []
  const noting = async (...asked: Parameters<typeof fetch>) => {
    const answer = await fetch(...asked)
    answers.push(answer)
    return answer
  }
  await examineComputer({ home: openHome({ AFIELD_HOME: home }), env: { PATH: '/nowhere' }, fetch: noting, now: Date.now })
  t.same(
    answers.map(({ bodyUsed }) => bodyUsed),
    [true]
  )
})

t.test('folders are allowed and disallowed, and nothing else in the file changes', async t => {
  const own = realpathSync(t.testdir({ home: {}, code: {} }))
  const [home, code] = [join(own, 'home'), join(own, 'code')]
  const allow = async (...args: string[]) => {
    const run = runWrapper(t, { home, args: ['allow', ...args], env: { HOME: own } })
    return { code: await run.ended, says: run.output }
  }
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'policy.json'), '{ "shell": false }')
  t.match(await allow(code), { code: 0, says: new RegExp(code) })
  t.match(readPolicy(home), { folders: [own, code], hasShell: false }, 'the home directory stays')
  t.equal(statSync(join(home, 'policy.json')).mode & 0o777, 0o600)
  t.match(await allow(code), { code: 0 })
  t.match(await allow('--remove', own), { code: 0 })
  t.strictSame(readPolicy(home).folders, [code], 'once')
  t.match(await allow('--remove', own), { code: 78, says: /is not an allowed folder/ })
  t.match(await allow(join(own, 'nothing')), { code: 78, says: /does not exist/ })
  writeFileSync(join(home, 'policy.json'), '{ "folders": 7 }')
  t.match(await allow(code), { code: 78, says: /cannot be read/ })
})

t.test('a computer that is not linked is told the command that finds its server, with no address of someone else', async t => {
  const home = openHome({ AFIELD_HOME: join(t.testdir(), 'home') })
  const found = await examineComputer({ home, env: { PATH: '/nowhere' }, fetch, now: Date.now })
  t.match(
    found.find(({ of }) => of === 'link'),
    { state: 'warn', advice: /^Run: .* login$/ }
  )
})
