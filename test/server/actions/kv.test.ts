import t from 'tap'
import { type Person, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { listen } from '../heard.ts'

type Mutation = { key: string; value: string | null; version: number }

const mutate = (person: Person, ...mutations: Mutation[]) => person.call('POST', '/v1/kv', { body: { mutations } })
const bulk = (person: Person, ...keys: string[]) => person.call('POST', '/v1/kv/bulk', { body: { keys } })
const read = (person: Person, key: string) => person.call('GET', `/v1/kv/${encodeURIComponent(key)}`)
const notFound = { status: 404, body: { error: 'Key not found' } }

t.test('a key is created at version 0, increments by one, and is removed by null [A.10]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const key = 'a/key with %, é and 😀'
  t.same(await read(ada, key), notFound)
  t.same(await mutate(ada, { key, value: 'b25l', version: -1 }), { status: 200, body: { success: true, results: [{ key, version: 0 }] } })
  t.same(await read(ada, key), { status: 200, body: { key, value: 'b25l', version: 0 } })
  t.match(await mutate(ada, { key, value: 'dHdv', version: 0 }), { body: { results: [{ version: 1 }] } })
  t.match(await mutate(ada, { key, value: null, version: 1 }), { body: { results: [{ version: 2 }] } })
  t.same(await read(ada, key), notFound)
  t.match(await mutate(ada, { key, value: 'MQ==', version: 2 }), { body: { results: [{ version: 3 }] } }, 'the version went on')
})

t.test('keys are listed by prefix and read in bulk, those without a value left out [A.10]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  await mutate(ada, ...['b', 'a.1', 'a.2', 'a.3'].map(key => ({ key, value: key, version: -1 })))
  await mutate(ada, { key: 'a.2', value: null, version: 0 })
  const item = (key: string) => ({ key, value: key, version: 0 })
  t.same(await ada.call('GET', '/v1/kv?prefix=a.'), { status: 200, body: { items: [item('a.1'), item('a.3')] } })
  t.same((await ada.call('GET', '/v1/kv?prefix=a.&limit=1')).body, { items: [item('a.1')] })
  t.equal((await ada.call('GET', '/v1/kv')).body.items.length, 3)
  t.same(await bulk(ada, 'nothing', 'b', 'a.2', 'a.1', 'b'), { status: 200, body: { values: [item('b'), item('a.1')] } })
})

t.test('one conflict rejects the whole request, with 409 and the current value [X4, X5]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const app = listen(await ada.connect())
  await mutate(ada, { key: 'a', value: 'MQ==', version: -1 })
  const refused = await mutate(
    ada,
    { key: 'new', value: 'eA==', version: -1 },
    { key: 'a', value: 'eA==', version: 3 },
    { key: 'b', value: null, version: 0 }
  )
  t.same(refused, {
    status: 409,
    body: {
      success: false,
      errors: [
        { key: 'a', error: 'version-mismatch', version: 0, value: 'MQ==' },
        { key: 'b', error: 'version-mismatch', version: -1, value: null }
      ]
    }
  })
  t.same(await read(ada, 'new'), notFound)
  await app.settled()
  t.equal(app.updates.length, 1, 'nobody is told of what was refused')
})

t.test('changes made together are announced together, to apps only, and advance the clock once', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = listen(await ada.connect())
  const terminal = listen(await ada.connect({ clientType: 'session-scoped', sessionId: session }))
  await mutate(ada, { key: 'a', value: 'MQ==', version: -1 }, { key: 'b', value: 'Mg==', version: -1 })
  await mutate(ada, { key: 'b', value: null, version: 0 })
  await app.settled()
  t.same(
    app.updates.map(({ seq, body }) => [seq, body]),
    [
      [
        2,
        {
          t: 'kv-batch-update',
          changes: [
            { key: 'a', value: 'MQ==', version: 0 },
            { key: 'b', value: 'Mg==', version: 0 }
          ]
        }
      ],
      [3, { t: 'kv-batch-update', changes: [{ key: 'b', value: null, version: 1 }] }]
    ]
  )
  await terminal.settled()
  t.same(terminal.updates, [])
})

t.test('of many who change the same keys at once, one wins [X4, X5]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (let version = -1; version < 4; version += 1) {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, writer) =>
        mutate(ada, { key: 'left', value: `${version}.${writer}`, version }, { key: 'right', value: `${version}.${writer}`, version })
      )
    )
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
    t.equal(answers.filter(({ status }) => status === 409).length, 5)
    const [left, right] = (await bulk(ada, 'left', 'right')).body.values
    t.match([left, right], [{ version: version + 1 }, { version: version + 1, value: left.value }])
  }
})

t.test('keys of another account are not visible, and may have the same name [I1, I3]', async t => {
  const server = await startServer(t)
  const [ada, mallory] = [await signUp(t, server), await signUp(t, server)]
  await mutate(ada, { key: 'k', value: 'hers', version: -1 })
  t.same(await read(mallory, 'k'), notFound)
  t.same((await mallory.call('GET', '/v1/kv')).body, { items: [] })
  t.same((await bulk(mallory, 'k')).body, { values: [] })
  t.match((await mutate(mallory, { key: 'k', value: 'x', version: 0 })).body.errors, [{ version: -1, value: null }])
  t.equal((await mutate(mallory, { key: 'k', value: 'x', version: -1 })).status, 200)
  t.match((await read(ada, 'k')).body, { value: 'hers', version: 0 })
})

t.test('bad keys, limits and batches are 400', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const one = { key: 'k', value: 'x', version: -1 }
  const many = (length: number) => Array.from({ length }, (_, index) => ({ ...one, key: `k${index}` }))
  for (const mutations of [[], many(101), [one, one], [{ ...one, version: -2 }], [{ ...one, key: '' }], [{ key: 'k', version: -1 }]]) {
    t.equal((await ada.call('POST', '/v1/kv', { body: { mutations } })).status, 400)
  }
  t.equal((await mutate(ada, ...many(100))).status, 200)
  for (const keys of [[], Array(101).fill('k')]) t.equal((await ada.call('POST', '/v1/kv/bulk', { body: { keys } })).status, 400)
  for (const limit of ['0', '1001', 'x', '']) t.equal((await ada.call('GET', `/v1/kv?limit=${limit}`)).status, 400)
})
