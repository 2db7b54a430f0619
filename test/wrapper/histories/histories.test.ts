import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openHistories } from '../../../lib/wrapper/histories/histories.ts'
import { createSessionFolder } from '../../../lib/wrapper/home/session-folder.ts'
import { writeCodex } from '../kit/histories.ts'

const idOf = (number: number) => `0000000${number}-0000-4000-8000-000000000000`

t.test('conversations of the same moment have one order, in which each page continues', async t => {
  const own = t.testdir({ home: {}, codex: {} })
  const env = { CODEX_HOME: join(own, 'codex'), HOME: own }
  for (const number of [3, 1, 2]) writeCodex(env.CODEX_HOME, '/srv/orchard', idOf(number), 60_000)
  writeCodex(env.CODEX_HOME, '/srv/secret', idOf(5), 60_000)
  writeCodex(env.CODEX_HOME, '/srv/orchard', idOf(4), 120_000)
  const histories = openHistories({ home: join(own, 'home'), env, isAllowed: folder => folder === '/srv/orchard' })
  const pages: (string | undefined)[][] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page = await histories.list({ limit: 2, ...(cursor !== undefined && { cursor }) })
    pages.push(page.histories.map(({ id }) => id))
    cursor = page.cursor
  }
  t.strictSame(pages, [[idOf(4), idOf(1)], [idOf(2), idOf(3)], []])
  t.match(await histories.list({ limit: 4, agent: 'codex', words: ' PRUNE  orchard ' }), { histories: { length: 4 } })
  t.strictSame((await histories.list({ agent: 'claude' })).histories, [])
})

t.test('a search that ends at its limit may not be complete, and one that read everything is', async t => {
  const own = t.testdir({ home: {}, codex: {} })
  const env = { CODEX_HOME: join(own, 'codex'), HOME: own }
  for (const number of [1, 2]) writeCodex(env.CODEX_HOME, '/srv/orchard', idOf(number), number * 60_000)
  const histories = openHistories({ home: join(own, 'home'), env, isAllowed: () => true })
  const search = async (words: string, limit?: number) => {
    const { hits, isComplete } = await histories.search({ words, limit })
    return { hits: hits.map(({ id, by, sentence }) => [id, by, sentence]), isComplete }
  }
  const all = [2, 1].map(number => [idOf(number), 'person', 'Prune the hedge'])
  t.strictSame(await search('HEDGE the'), { hits: all, isComplete: true })
  t.strictSame(await search('hedge', 2), { hits: all, isComplete: true })
  t.strictSame(await search('hedge', 1), { hits: all.slice(0, 1), isComplete: false })
  t.strictSame(await search('care'), { hits: [2, 1].map(number => [idOf(number), 'agent', 'Pruned with care.']), isComplete: true })
  t.strictSame(await search('pears'), { hits: [], isComplete: true })
})

const notes = { tag: 'one', server: 's', key: null, cursor: 0, turn: null }

t.test('a conversation names its session, and where it is open', async t => {
  const own = t.testdir({ home: {}, codex: {} })
  const [home, env] = [join(own, 'home'), { CODEX_HOME: join(own, 'codex'), HOME: own }]
  for (const number of [1, 2, 3]) writeCodex(env.CODEX_HOME, '/srv/orchard', idOf(number), number * 60_000 + 0.7)
  const metadata = { path: '/srv/orchard', host: 'studio' }
  createSessionFolder(home, { ...notes, id: 's1', metadata: { ...metadata, agentSessionId: idOf(1) } })
  const ended = createSessionFolder(home, { ...notes, tag: 'two', id: 's2', metadata: { ...metadata, agentSessionId: idOf(2) } })
  ended.retire()
  const { histories } = await openHistories({ home, env, isAllowed: () => true }).list({})
  const listed = { agent: 'codex', title: 'Prune the hedge', folder: '/srv/orchard' }
  t.strictSame(histories, [
    { ...listed, id: idOf(3), at: 180_000 },
    { ...listed, id: idOf(2), at: 120_000, session: 's2' },
    { ...listed, id: idOf(1), at: 60_000, session: 's1', openIn: 'session' }
  ])
})

t.test('the last page has no next one', async t => {
  const own = t.testdir({ home: {}, codex: {} })
  const env = { CODEX_HOME: join(own, 'codex'), HOME: own }
  for (const number of [1, 2]) writeCodex(env.CODEX_HOME, '/srv/orchard', idOf(number), number * 60_000)
  const histories = openHistories({ home: join(own, 'home'), env, isAllowed: () => true })
  t.match(await histories.list({ limit: 2 }), { histories: { length: 2 }, cursor: null })
  t.match(await histories.list({ limit: 1 }), { histories: [{ id: idOf(2) }], cursor: `120000 ${idOf(2)}` })
})

t.test('a page ends when looking took long, and the next one goes on from there', async t => {
  const own = t.testdir({ home: {}, codex: {} })
  const env = { CODEX_HOME: join(own, 'codex'), HOME: own }
  for (const number of [1, 2, 3]) writeCodex(env.CODEX_HOME, '/srv/orchard', idOf(number), number * 60_000)
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const isAllowed = () => {
    now += 4_000
    return true
  }
  const histories = openHistories({ home: join(own, 'home'), env, isAllowed })
  t.match(await histories.list({}), { histories: [{ id: idOf(3) }, { id: idOf(2) }], cursor: `120000 ${idOf(2)}` })
  t.match(await histories.list({ cursor: `120000 ${idOf(2)}` }), { histories: [{ id: idOf(1) }], cursor: null })
  t.strictSame(await histories.list({ words: 'pears' }), { histories: [], cursor: `120000 ${idOf(2)}` })
})

t.test('a search in opencode shows one hit of each allowed conversation, with the words around it', async t => {
  const own = t.testdir({ home: {}, '.local': { share: { opencode: { 'opencode.db': 'rows' } } } })
  const program = join(own, 'opencode')
  const list = [
    { id: 'one', at: 2, title: 'Plant', folder: '/srv/orchard' },
    { id: 'two', at: 1, title: 'Secret', folder: '/srv/secret' }
  ]
  const long = `${'x '.repeat(100)}Prune\n the   pears${' y'.repeat(100)}`
  const said = [
    { id: 'two', role: 'user', text: 'prune the pears' },
    { id: 'one', role: 'user', text: 'PRUNES' },
    { id: 'one', role: 'assistant', text: long },
    { id: 'one', role: 'user', text: 'prune pears again' },
    { id: 'gone', role: 'user', text: 'prune pears' }
  ]
  for (const [name, rows] of Object.entries({ list, said })) writeFileSync(join(own, name), JSON.stringify(rows))
  writeFileSync(program, `#!/bin/sh\ncase "$*" in *'from session'*) cat '${own}/list';; *) cat '${own}/said';; esac\n`)
  chmodSync(program, 0o755)
  const env = { HOME: own, OPENCODE_BIN_PATH: program, PATH: process.env['PATH'] ?? '' }
  const histories = openHistories({ home: join(own, 'home'), env, isAllowed: folder => folder === '/srv/orchard' })
  const { hits, isComplete } = await histories.search({ words: 'prune pears' })
  t.equal(isComplete, true)
  t.equal(hits.length, 1)
  t.match(hits, [{ agent: 'opencode', id: 'one', at: 2, title: 'Plant', folder: '/srv/orchard', by: 'agent' }])
  t.equal(hits[0]?.sentence, `…${'x '.repeat(45)}Prune the pears${' y'.repeat(38)}…`)
  writeFileSync(program, '#!/bin/sh\nexit 1\n')
  t.strictSame(await histories.search({ words: 'prune' }), { hits: [], isComplete: false }, 'it cannot search')
})
