import t from 'tap'
import { cryptoReady, newUserText, sealDraft } from '../../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../../lib/crypto/index.ts'
import { exportSession } from '../../../../../web/model/transcript/export/export.ts'

t.before(() => cryptoReady())

t.test('a session is exported with every page of its messages, also those that cannot be decrypted', async t => {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const others = dataKeyCipher(engine.randomBytes(32))
  const at = Date.UTC(2026, 4, 14, 14, 2)
  const record = (seq: number, text: string, of = cipher) => {
    const { content, localId } = sealDraft(of, 's1', newUserText(text))
    return { seq, localId, createdAt: at + seq, content: { t: 'encrypted', c: content } }
  }
  const pages = [[record(1, 'Prune the plums'), record(2, 'sealed for others', others)], [record(3, 'Prune the pears')]]
  const asked: unknown[] = []
  const rest = {
    call: async (_: string, { query }: { query: { after_seq: number } }) => {
      asked.push(query.after_seq)
      return { messages: pages[asked.length - 1], hasMore: asked.length < pages.length }
    }
  }
  // Only the members that an export uses.
  const link = Object.assign(Object.create(null), { rest, cipherOf: () => cipher })
  const session = Object.assign(Object.create(null), {
    ...{ id: 'c0ffee00-0000-4000-8000-000000000001', createdAt: at },
    metadata: { path: '/home/plums', host: 'studio', summary: { text: 'Plums / pears' } }
  })
  const { file, name } = await exportSession(link, session, 'json')
  t.equal(name, '2026-05-14_Plums-pears_c0ffee00.json')
  t.equal(file.type, 'application/json')
  t.same(asked, [0, 2], 'each page begins after the last one')
  const { id, metadata, messages } = JSON.parse(await file.text())
  t.same([id, metadata], [session.id, session.metadata])
  t.match(messages, [
    { seq: 1, at: '2026-05-14T14:02:00.001Z', body: { role: 'user', content: { text: 'Prune the plums' } } },
    { seq: 2, at: '2026-05-14T14:02:00.002Z', body: null },
    { seq: 3, at: '2026-05-14T14:02:00.003Z', body: { content: { text: 'Prune the pears' } } }
  ])

  asked.length = 0
  const readable = await exportSession(link, session, 'md')
  t.equal(readable.name, '2026-05-14_Plums-pears_c0ffee00.md')
  t.match(await readable.file.text(), /Prune the plums[\s\S]*Prune the pears/)
  await t.rejects(exportSession({ ...link, cipherOf: () => undefined }, session, 'md'), { message: /do not open/ })
})
