import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import type { LogFields } from '../../../lib/server/watch/log.ts'
import { noteOf } from '../../../lib/server/watch/log.ts'
import { call, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'

interface Line extends LogFields {
  level: string
  message: string
}

/** A logger as an embedder hands one in. */
function keepLines(isDebug = true) {
  const lines: Line[] = []
  const at = (level: string) => (fields: LogFields, message: string) => lines.push({ level, message, ...fields })
  const isLevelEnabled = (level: string) => isDebug || level !== 'debug'
  return { lines, logger: { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), isLevelEnabled } }
}

t.test('each request is logged with its id, its route pattern, its status and its duration', async t => {
  const { lines, logger } = keepLines()
  const server = await startServer(t, { logger })
  const ada = await signUp(t, server)
  await ada.call('DELETE', '/v1/push-tokens/ExponentPushToken%5Bsecret%5D')
  await ada.call('GET', '/v3/sessions/none/messages?note=secret')
  await call(server, 'GET', '/no/such/secret')
  const answered = lines.filter(({ route }) => route !== undefined)
  t.match(answered, [
    { level: 'debug', route: 'POST /v1/auth', status: 200, ms: Number },
    { route: 'DELETE /v1/push-tokens/:token', status: 200 },
    { route: 'GET /v3/sessions/:id/messages', status: 404 },
    { route: 'other', status: 404 }
  ])
  t.equal(new Set(answered.map(({ requestId }) => requestId)).size, 4)
  t.notMatch(JSON.stringify(lines), /secret/)
})

t.test('requests are logged only with debug', async t => {
  const { lines, logger } = keepLines(false)
  const server = await startServer(t, { logger, data: join(t.testdir(), 'private') })
  await signUp(t, server)
  await server.close()
  t.same(
    lines.map(({ message }) => message),
    ['Serving', 'Finishing running requests', 'Closed']
  )
})

t.test('an unexpected error is logged once, and the answer has the id of that line', async t => {
  const { lines, logger } = keepLines(false)
  const met: unknown[] = []
  const broken = new Error('The clock fell off the wall')
  let isBroken = false
  const now = () => {
    if (isBroken) throw broken
    return Date.now()
  }
  const server = await startServer(t, { logger, now, onError: (error, at) => met.push(error, at) })
  const ada = await signUp(t, server)
  isBroken = true
  const response = await fetch(`${server.url}/v1/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tag: 'one', metadata: 'x' })
  })
  isBroken = false
  t.equal(response.status, 500)
  t.same(await response.json(), { error: 'Internal Server Error', message: 'An unexpected error occurred', statusCode: 500 })
  const requestId = response.headers.get('x-request-id')
  t.match(requestId, /^[\w-]+$/)
  const errors = lines.filter(({ level }) => level === 'error')
  t.match(errors, [{ requestId, route: 'POST /v1/sessions', error: { name: 'Error', says: broken.message } }])
  t.equal(errors.length, 1)
  t.same(met, [broken, { requestId, route: 'POST /v1/sessions' }])
})

t.test('other answers have no such id', async t => {
  const server = await startServer(t)
  t.notOk((await fetch(`${server.url}/v1/sessions`)).headers.has('x-request-id'))
})

t.test('a logged error contains nothing that looks like a secret [P2]', async t => {
  const secrets = [
    'afield1-account.eyJzdWIiOiJ4In0=.abcdefghij',
    'ExponentPushToken[abc]',
    'Bearer abc',
    Buffer.alloc(32, 7).toString('base64'),
    Buffer.alloc(32, 250).toString('base64url')
  ]
  for (const secret of secrets) {
    const note = noteOf(new Error(`It failed for ${secret}`, { cause: new TypeError(`because of ${secret}`) }))
    t.notMatch(JSON.stringify(note), secret)
    t.match(note, { says: 'It failed for [secret]', cause: { name: 'TypeError' } })
    t.ok(note.at.length > 0, 'and where it happened is told')
  }
  const parse = (text: string) => {
    try {
      return JSON.parse(text)
    } catch (error) {
      return noteOf(error)
    }
  }
  t.notMatch(JSON.stringify(parse('{"a": hunter2}')), /hunter2/)
  t.same(noteOf('a text that was thrown'), { name: 'Unknown', says: '', at: [] })
})

t.test('a line is one line with its time in UTC, whatever characters an error has', async t => {
  const program = `import { noteOf, openLogger } from ${JSON.stringify(import.meta.resolve('../../../lib/server/watch/log.ts'))}
openLogger('info').error({ error: noteOf(new Error('It broke\\n{"level":"info"}\\u001b[2J')) }, 'It broke')`
  const env = { ...process.env, TZ: 'Asia/Tokyo' }
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8', env })
  t.match(stderr, /^[ -~]+\n$/)
  const { time, error } = JSON.parse(stderr)
  t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000, time)
  t.equal(error.says, 'It broke\n{"level":"info"}\u001b[2J')
})

t.test('an untrusted proxy on this computer is logged once, and a trusted one never', async t => {
  const hints = async (trustProxy: string | undefined, headers: Record<string, string>) => {
    const { lines, logger } = keepLines(false)
    const server = await startServer(t, { logger, ...(trustProxy !== undefined && { trustProxy }) })
    for (let round = 0; round < 2; round++) await fetch(`${server.url}/v1/updates/?EIO=4&transport=polling`, { headers })
    return lines.filter(({ message }) => /--trust-proxy/.test(message)).map(({ level }) => level)
  }
  t.strictSame(await hints(undefined, { 'x-forwarded-for': '192.0.2.7' }), ['warn'])
  t.strictSame(await hints(undefined, { forwarded: 'for=192.0.2.7' }), ['warn'])
  t.strictSame(await hints(undefined, {}), [])
  t.strictSame(await hints('loopback', { 'x-forwarded-for': '192.0.2.7' }), [])
  t.strictSame(await hints('loopback', { 'x-forwarded-for': '127.0.0.1' }), [])
})
