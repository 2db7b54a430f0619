import { join } from 'node:path'
import t from 'tap'
import { openHistories } from '../../../lib/wrapper/histories/histories.ts'
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
