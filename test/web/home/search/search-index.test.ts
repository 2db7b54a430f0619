import 'fake-indexeddb/auto'
import t, { type Test } from 'tap'
import { cryptoReady, newEnvelope, newSessionMessage, newUserText } from '../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../lib/crypto/index.ts'
import type { MessageBody } from '../../../../lib/protocol/sealed/messages.ts'
import { deviceDb } from '../../../../web/core/device-db.ts'
import { reading, searchMessages, startIndexing, version } from '../../../../web/home/search/search-index.ts'
import type { Live } from '../../../../web/model/account/live.ts'
import { updateHome } from '../../../../web/model/home.ts'
import { until } from '../../kit/device.ts'
import { sessionRow } from '../../kit/session-row.ts'

t.before(() => cryptoReady())

const said = (text: string, more: object = {}) => newSessionMessage(newEnvelope({ t: 'text', text, ...more }, { role: 'agent' }))

/** An account whose sessions have these messages, and what was read of it. */
function account(t: Test, messages: Record<string, MessageBody[]>) {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const asked: string[] = []
  const rows = Object.fromEntries(
    Object.entries(messages).map(([id, bodies]) => [
      id,
      bodies.map((body, index) => {
        const seq = index + 1
        const content = { t: 'encrypted', c: cipher.seal(body) }
        return { id: `${id}-${seq}`, seq, localId: null, createdAt: seq * 10, updatedAt: 0, content }
      })
    ])
  )
  async function call(
    _: string,
    { params: { id }, query }: { params: { id: string }; query: { after_seq?: number; before_seq?: number } }
  ) {
    asked.push(id)
    const all = rows[id] ?? []
    if (query.after_seq !== undefined) return { messages: all.filter(({ seq }) => seq > Number(query.after_seq)), hasMore: false }
    return { messages: all.filter(({ seq }) => seq < Number(query.before_seq)).toReversed(), hasMore: false }
  }
  const link = { rest: { call }, cipherOf: (id: string) => (id === 'sealed' ? undefined : cipher) } as unknown as Live
  // The next round begins at once.
  const { setTimeout: wait } = globalThis
  t.intercept(globalThis, 'setTimeout', { value: (run: () => void, ms: number) => wait(run, ms === 4000 ? 0 : ms) })
  updateHome({ type: 'cleared' })
  const show = (id: string, at = 1) =>
    updateHome({
      type: 'session',
      session: { ...sessionRow, id, seq: rows[id]?.length ?? 0, activeAt: at, updatedAt: at, metadata: undefined }
    })
  return {
    ...{ asked, show },
    add: (id: string, body: MessageBody) => {
      const seq = (rows[id]?.length ?? 0) + 1
      const content = { t: 'encrypted', c: cipher.seal(body) }
      rows[id] = [...(rows[id] ?? []), { id: `${id}-${seq}`, seq, localId: null, createdAt: seq * 10, updatedAt: 0, content }]
      show(id)
    },
    /** Resolves when everything that is known is indexed. */
    async index(): Promise<void> {
      const before = version.value
      startIndexing(link)
      await until(version, now => now > before)
      await until(reading, progress => progress === undefined)
    }
  }
}

const texts = (query: string, session?: string) => searchMessages(query, session).map(({ text }) => text)

t.test('what people and agents said is found, newest first, in all sessions or in one', async t => {
  const { show, index } = account(t, {
    s1: [newUserText('Prune the pears'), said('The pears are pruned.'), said('Thinking of pears', { thinking: true }), said('  ')],
    s2: [newUserText('Rake the plums'), newUserText(''), newUserText('And the PEARS, please')]
  })
  show('s1')
  show('s2')
  await index()
  t.same(searchMessages('pears'), [
    { seq: 3, at: 30, by: 'me', text: 'And the PEARS, please', session: 's2' },
    { seq: 2, at: 20, by: 'agent', text: 'The pears are pruned.', session: 's1' },
    { seq: 1, at: 10, by: 'me', text: 'Prune the pears', session: 's1' }
  ])
  t.same(texts('pears', 's1'), ['The pears are pruned.', 'Prune the pears'])
  t.same(texts('the plums'), ['Rake the plums'])
  t.same(texts('pears plums'), [])
  t.same(texts('  '), [], 'no words find nothing')
})

t.test('an index outlives the app, and only what is new is read', async t => {
  const { show, index, asked, add } = account(t, { s3: [newUserText('one apple'), said('two apples')] })
  show('s3')
  await index()
  t.same([texts('apple'), asked], [['two apples', 'one apple'], ['s3']])
  const again = account(t, { s3: [newUserText('one apple'), said('two apples')] })
  again.show('s3')
  await again.index()
  t.same([texts('apple'), again.asked], [['two apples', 'one apple'], []])
  add('s3', said('three apples'))
})

t.test('a message that arrives later is found after the next round', async t => {
  const { show, index, add } = account(t, { s4: [newUserText('one quince')] })
  show('s4')
  await index()
  add('s4', said('two quinces'))
  await until(version, () => texts('quince').length === 2)
  t.same(texts('quince'), ['two quinces', 'one quince'])
})

t.test('a session that was removed is not found, and one that cannot be decrypted finds nothing', async t => {
  const { show, index } = account(t, { s5: [newUserText('one cherry')], sealed: [newUserText('two cherries')] })
  show('sealed', 9)
  show('s5')
  await index()
  t.same(texts('cherr'), ['one cherry'])
  updateHome({ type: 'session-removed', id: 's5' })
  t.same(texts('cherr'), [])
})

t.test('long messages and long sessions are indexed as far as there is room, the newest first', async t => {
  const long = (mark: string) => `${mark} ${'x'.repeat(5_000)} berry`
  const { show, index } = account(t, { s6: Array.from({ length: 30 }, (_, number) => newUserText(long(`m${number}`))) })
  show('s6')
  await index()
  t.same(texts('berry'), [], 'the end of a long message is left out')
  const found = searchMessages('x')
  t.equal(found.length, 25)
  t.equal(found[0]?.text.length, 4_000)
  t.match(found.at(-1)?.text, /^m5 /)
})

t.test('an index that is stored damaged is read anew, and white space and thoughts are never found', async t => {
  const db = await deviceDb()
  for (const [index, kept] of [null, 'text', { at: 1, lines: [] }, { upTo: 1, lines: [] }, { upTo: 1, at: 10 }].entries()) {
    const id = `damaged${index}`
    await db.write(`said.${id}`, kept)
    const { show, index: read } = account(t, { [id]: [newUserText('one medlar'), said(' \n '), said('two medlars', { thinking: true })] })
    show(id)
    await read()
    t.same(texts('medlar', id), ['one medlar'], JSON.stringify(kept))
    t.match(await db.read(`said.${id}`), { upTo: 3, at: 30, lines: [{ text: 'one medlar' }] })
  }
})

t.test('a session without messages is done, and one whose session is gone leaves nothing on the device', async t => {
  const db = await deviceDb()
  const { show, index, asked } = account(t, { empty: [], s7: [newUserText('one sloe')] })
  show('empty')
  show('s7')
  await index()
  t.same(asked, ['s7'])
  t.ok(await db.read('said.s7'))
  updateHome({ type: 'session-removed', id: 's7' })
  show('empty', 9)
  while ((await db.read('said.s7')) !== undefined) await new Promise(setImmediate)
})
