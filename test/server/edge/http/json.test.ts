import t from 'tap'
import { isModest, mostDepth, mostKeys, mostValues, parseJson } from '../../../../lib/server/edge/http/json.ts'
import { next, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { exchange, readAnswer } from '../../raw-http.ts'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const keyed = (count: number) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}`, 0])))
const long = 'x'.repeat(500)
/** Makes a little text a long one, of which is known what it holds before it is parsed. */
const padding = ' '.repeat(70_000)

t.test('JSON deeper or wider than any client sends is rejected, and all else is parsed', async t => {
  const fits = [nested(mostDepth), keyed(mostKeys), `[${'0,'.repeat(mostValues - 2)}0]`, JSON.stringify(Array(40).fill({ a: 1 }))]
  // What stands in strings counts for nothing, wherever quotes and escapes are.
  fits.push(JSON.stringify('['.repeat(100)), JSON.stringify(`${long}"[{`.repeat(60)), JSON.stringify([`\\`, `${long}\\`, '{'.repeat(50)]))
  fits.push(JSON.stringify({ [`${long}":{`.repeat(50)]: `${'\\"'.repeat(99)}[`.repeat(50) }))
  for (const text of fits) {
    t.ok(isModest(text), text.slice(0, 40))
    for (const form of [text, text + padding]) t.same(parseJson(form), JSON.parse(text))
  }
  const refused = [nested(mostDepth + 1), keyed(mostKeys + 1), `[${'0,'.repeat(mostValues)}0]`, `[${'{},'.repeat(mostValues)}0]`]
  refused.push(`["${long}\\\\",${nested(mostDepth + 1)}]`, `["\\"",${nested(mostDepth + 1)}]`, `[${nested(20)},${nested(33)}]`)
  for (const text of refused) {
    t.notOk(isModest(text), text.slice(0, 40))
    for (const form of [text, text + padding]) t.equal(parseJson(form), undefined)
  }
  for (const text of ['', '"', '"\\', `"${long}`, ']]]]', ':::', '{"a":1', 'nonsense'])
    t.equal(parseJson(text), undefined, text.slice(0, 9))
})

t.test('endless brackets are rejected, and other requests do not wait meanwhile [N2]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect()
  const head = `POST /v3/sessions/${session}/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\nConnection: close\r\n`
  for (const body of [
    '['.repeat(30e6),
    '{"a":'.repeat(6e6),
    `{"messages":[${'[],'.repeat(3e6)}0]}`,
    `[${'{},'.repeat(3e6)}0]`,
    `[${'"",'.repeat(3e6)}0]`
  ]) {
    const { status, body: told } = readAnswer(await exchange(t, server, `${head}Content-Length: ${body.length}\r\n\r\n${body}`))
    t.same([status, told.message], [400, 'body has too many values, or too deep ones'], body.slice(0, 20))
  }
  const closed = next(socket, 'disconnect')
  socket.io.engine.write(`42["message",${'['.repeat(40)}]`)
  await closed
  t.equal((await ada.send(session, { localId: 'a' })).status, 200)
})

t.test('of equal keys the last one counts, unknown fields are dropped, and numbers are bounded [N3]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const opened = await ada.call('POST', '/v1/sessions', {
    body: '{"tag":"first","metadata":"a","metadata":"b","tag":"last","seq":99,"active":false,"__proto__":{"id":"evil"},"id":"evil"}'
  })
  t.match(opened, { status: 200, body: { session: { metadata: 'b', seq: 0, active: true } } })
  t.not(opened.body.session.id, 'evil')
  const { id } = opened.body.session
  t.equal((await ada.call('POST', '/v1/sessions', { body: { tag: 'last', metadata: 'c' } })).body.session.id, id)
  for (const number of ['1e999', '-1e999', '9'.repeat(400), 'NaN', 'Infinity']) {
    const { status } = await ada.call('POST', '/v1/account/settings', { body: `{"settings":"x","expectedVersion":${number}}` })
    t.equal(status, 400, number.slice(0, 9))
  }
})

t.test('any text is returned as it was sent, over HTTP and socket, and invalid text is rejected [N4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const reader = await ada.connect()
  const writer = await ada.connect()
  const texts = [
    '\0nul\0',
    '\u202Eright to left\u200F',
    '\u{1F9D1}\u200D\u{1F680}',
    'e\u0301 and \u00e9',
    '\u2028\u2029',
    '"\\/\b\f\n\r\t',
    '\uFEFF',
    '\uFFFF'
  ]
  for (const [index, text] of texts.entries()) {
    const heard = next(reader, 'update', update => update.body.message.content.c === text)
    if (index % 2) await ada.send(session, { localId: `${index}`, content: text })
    else writer.emit('message', { sid: session, localId: `${index}`, message: text })
    await heard
  }
  const { body } = await ada.call('GET', `/v3/sessions/${session}/messages`)
  t.strictSame(
    body.messages.map((message: { content: { c: string } }) => message.content.c),
    texts
  )
  for (const half of ['\\ud800', 'a\\udfffb']) {
    const raw = `{"messages":[{"localId":"half","content":"${half}"}]}`
    t.equal((await ada.call('POST', `/v3/sessions/${session}/messages`, { body: raw })).status, 400)
  }
})
