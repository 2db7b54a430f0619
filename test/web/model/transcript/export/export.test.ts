import 'fake-indexeddb/auto'
import { mock } from 'node:test'
import t from 'tap'
import { cryptoReady, newUserText, sealDraft } from '../../../../../lib/client/index.ts'
import { dataKeyCipher, engine } from '../../../../../lib/crypto/index.ts'
import type { Live } from '../../../../../web/model/account/live.ts'
import { updateHome } from '../../../../../web/model/home.ts'
import type { MachineView, SessionView } from '../../../../../web/model/store.ts'
import { exportAll, exportSession, saveFile } from '../../../../../web/model/transcript/export/export.ts'
import { pageGlobals } from '../../../kit/page-globals.ts'
import { sessionRow } from '../../../kit/session-row.ts'

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

  t.strictSame(messages[1].body, null)

  asked.length = 0
  const unknown = await exportSession(link, { ...session, metadata: undefined }, 'md')
  t.equal(unknown.name, '2026-05-14_c0ffee00.md')
  t.match(await unknown.file.text(), 'could not be opened')

  asked.length = 0
  const readable = await exportSession(link, session, 'md')
  t.equal(readable.name, '2026-05-14_Plums-pears_c0ffee00.md')
  t.match(await readable.file.text(), /Prune the plums[\s\S]*Prune the pears/)
  await t.rejects(exportSession({ ...link, cipherOf: () => undefined }, session, 'md'), { message: /do not open/ })
})

/** A server with so many messages in each session, and what was asked of it. */
function server(counts: Record<string, number>) {
  const cipher = dataKeyCipher(engine.randomBytes(32))
  const asked: unknown[] = []
  const signals: (AbortSignal | undefined)[] = []
  const rest = {
    async call(
      _: string,
      { params, query }: { params: { id: string }; query: { after_seq: number; limit: number } },
      how: { signal?: AbortSignal }
    ) {
      asked.push([params.id, query.after_seq, query.limit])
      signals.push(how.signal)
      const seqs = Array.from({ length: counts[params.id] ?? 0 }, (_, index) => index + 1).filter(seq => seq > query.after_seq)
      const messages = seqs.slice(0, 2).map(seq => {
        const { content, localId } = sealDraft(cipher, params.id, newUserText(`${params.id} says ${seq}`))
        return { seq, localId, createdAt: seq, content: { t: 'encrypted', c: content } }
      })
      return { messages, hasMore: seqs.length > 2 }
    }
  }
  // Only the members that an export uses.
  const link = { rest, cipherOf: (id: string) => (id === 'locked' ? undefined : cipher) } as unknown as Live
  return { link, asked, signals }
}

t.test('all sessions are exported in one archive, oldest first, with those that could not be opened', async t => {
  updateHome({ type: 'cleared' })
  const session = (id: string, createdAt: number, metadata: object | undefined) =>
    updateHome({ type: 'session', session: { ...sessionRow, id, createdAt, metadata: metadata as SessionView['metadata'] } })
  session('second', 2, { path: '/work/pears', host: 'studio' })
  session('first', 1, { path: '/work/--plums--', host: 'studio', name: `${'x'.repeat(70)}` })
  session('locked', 3, { path: '/', host: 'studio' })
  session('sealed', 4, undefined)
  const machine = { id: 'm1', isActive: true, activeAt: 1, createdAt: 5, metadata: { host: 'studio' }, daemonState: null }
  updateHome({ type: 'machine', machine: machine as unknown as MachineView })
  const { link, asked, signals } = server({ first: 3, second: 0, locked: 1, sealed: 1 })
  const progress: [number, number][] = []
  const { signal } = new AbortController()
  const { file, sealed } = await exportAll(link, { signal, onProgress: (done, all) => progress.push([done, all]) })
  t.same(asked, [
    ['first', 0, 500],
    ['first', 2, 500],
    ['second', 0, 500]
  ])
  t.ok(signals.every(each => each === signal))
  t.equal(sealed, 2)
  t.same(progress, [
    [0, 4],
    [1, 4],
    [2, 4],
    [3, 4],
    [4, 4]
  ])
  // The archive is not compressed.
  const text = await file.text()
  const names = [...text.matchAll(/(?:sessions\/[\w.-]+|account)\.(?:md|json)/g)].map(([name]) => name)
  const first = `sessions/1970-01-01_${'x'.repeat(60)}_first`
  const second = 'sessions/1970-01-01_pears_second'
  t.same([...new Set(names)], [`${first}.md`, `${first}.json`, `${second}.md`, `${second}.json`, 'account.json'])
  t.match(text, 'first says 3')
  t.match(text, /"machines": \[\s*\{\s*"id": "m1",\s*"metadata": \{\s*"host": "studio"\s*\},\s*"createdAt": 5\s*\}\s*\]/)
  t.match(text, /"notOpened": \[\s*"locked",\s*"sealed"\s*\]/)
})

t.test('a file is saved under its name, and its address is given up later', async t => {
  const links: { href: string; download: string; clicks: number }[] = []
  pageGlobals(t)
  Object.assign(document, {
    createElement(name: string) {
      const link = { name, href: '', download: '', clicks: 0, click: () => link.clicks++ }
      links.push(link)
      return link
    }
  })
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  saveFile(new Blob(['pears']), 'pears.md')
  const [link] = links
  t.match(link, { name: 'a', download: 'pears.md', href: /^blob:/, clicks: 1 })
  mock.timers.tick(59_999)
  t.equal(await (await fetch(link?.href ?? '')).text(), 'pears')
  mock.timers.tick(1)
  await t.rejects(fetch(link?.href ?? ''))
})
