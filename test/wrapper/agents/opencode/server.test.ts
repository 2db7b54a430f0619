import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import * as v from '../../../../lib/schema.ts'
import { type OpencodeServer, startServer } from '../../../../lib/wrapper/agents/opencode/server.ts'

const how = { timeout: 60_000, skip: process.platform === 'win32' && 'the program is a script' }

const script = `#!/usr/bin/env node
import { createServer } from 'node:http'

const { KIND, OPENCODE_SERVER_PASSWORD, OPENCODE_SERVER_USERNAME } = process.env
const event = (type, sessionID) => 'data: ' + JSON.stringify({ type, properties: { sessionID } }) + '\\n\\n'
if (KIND.startsWith('dies')) {
  if (KIND === 'dies') console.error('starting\\nno such option')
  process.exit(3)
}
const authorization = 'Basic ' + Buffer.from('opencode:' + OPENCODE_SERVER_PASSWORD).toString('base64')
const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  const answer = (value, status = 200) => response.writeHead(status).end(JSON.stringify(value))
  if (KIND !== 'open' && request.headers.authorization !== authorization) return answer({}, 401)
  switch (request.url) {
    case '/global/health':
      return answer(KIND === 'unversioned' ? {} : { version: '1.2.3' })
    case '/echo':
      return answer({ method: request.method, body, user: OPENCODE_SERVER_USERNAME ?? null })
    case '/words':
      return response.end('fine')
    case '/refuses':
      return answer({ data: { message: 'No such model.' } }, 400)
    case '/breaks':
      return response.writeHead(500).end('oops')
    case '/dies':
      console.error('it is over')
      process.exit(7)
    case '/event': {
      const [begin, end] = event('session.idle', '二').split('二')
      const letter = Buffer.from('二')
      response.write(event('server.connected') + ': still here\\n\\ndata: no json\\n\\n' + event('unheard of') + event('session.idle', 'one') + begin)
      response.write(letter.subarray(0, 1))
      setTimeout(() => {
        response.write(letter.subarray(1))
        response.end(end + event('session.idle', 'last') + event('session.idle', 'cut').slice(0, 12))
      }, 20)
      return
    }
    default:
      return response.end()
  }
})
if (KIND === 'silent') setInterval(() => {}, 1000)
else server.listen(0, '127.0.0.1', () => console.log('a line before\\nlistening on http://127.0.0.1:' + server.address().port))
`

t.test('a server that we cannot share is not used, and why is a sentence', how, async t => {
  for (const [kind, message] of [
    ['dies', 'Its server exited before it was ready (exit code 3): no such option'],
    ['dies silently', 'Its server exited before it was ready (exit code 3).'],
    ['open', 'Its server requires no password.'],
    ['unversioned', 'Its server does not report its version.']
  ] as const)
    await t.rejects(begin(t, kind), { name: 'NotShared', message }, kind)
})

t.test('a start that is given up leaves no server', how, async t => {
  const stop = new AbortController()
  const starting = begin(t, 'silent', stop.signal)
  stop.abort(new Error('stopped'))
  await t.rejects(starting, { message: 'stopped' })
})

t.test('a server answers with its values, or its own words for a no', how, async t => {
  const server = await begin(t)
  t.equal(server.version, '1.2.3')
  t.strictSame(await server.get('/echo', v.unknown()), { method: 'GET', body: '', user: null })
  t.strictSame(await server.send('POST', '/echo', { a: 1 }), { method: 'POST', body: '{"a":1}', user: null })
  t.strictSame(await server.send('DELETE', '/echo'), { method: 'DELETE', body: '', user: null })
  t.equal(await server.send('POST', '/nothing'), undefined)
  t.equal(await server.send('POST', '/words'), undefined)
  await t.rejects(server.get('/echo', v.array(v.string())), 'another shape')
  await t.rejects(server.send('POST', '/refuses'), { name: 'Refused', status: 400, message: 'No such model.' })
  await t.rejects(server.send('POST', '/breaks'), { name: 'Refused', status: 500, message: 'opencode answered 500.' })
})

t.test('its events are heard from when none can be missed, in any pieces, until it hangs up', how, async t => {
  const server = await begin(t)
  const heard: unknown[] = []
  await server.listen(
    event => heard.push(event.properties),
    () => heard.push('open')
  )
  t.strictSame(heard, ['open', { sessionID: 'one' }, { sessionID: '二' }, { sessionID: 'last' }])
})

t.test('a server that ends says how, and answers nothing any more', how, async t => {
  const server = await begin(t)
  await t.rejects(server.send('POST', '/dies'))
  t.equal(await server.ended, 'exit code 7')
  t.equal(server.lastLines(), 'it is over')
  await t.rejects(server.get('/echo', v.unknown()))
  await server.end()
})

async function begin(t: Test, kind = '', signal?: AbortSignal): Promise<OpencodeServer> {
  const directory = t.testdir()
  const program = join(directory, 'opencode.mjs')
  writeFileSync(program, script)
  chmodSync(program, 0o755)
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const server = await startServer({ program, directory, env: { PATH, KIND: kind, OPENCODE_SERVER_USERNAME: 'other' }, signal })
  t.teardown(() => server.end())
  return server
}
