import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { chooseHistory } from '../../../bin/commands/adopt.ts'
import type { ListedHistory } from '../../../lib/wrapper/histories/histories.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { asking } from '../../wrapper/kit/asking.ts'
import { writeCodex } from '../../wrapper/kit/histories.ts'
import { here } from '../kit/here.ts'

const minute = 60_000
const history = (title: string, changes: Partial<ListedHistory> = {}): ListedHistory => ({
  ...{ agent: 'codex', id: `id-of-${title}`, title, folder: '/srv/orchard', at: Date.now() - 5 * minute },
  ...changes
})
const all = [history('pears', { openIn: 'terminal' }), history('plums')]

/** What was picked, what was shown, and which words were searched for. */
async function picked(found: readonly ListedHistory[], words: readonly string[], answers: readonly (string | undefined)[]) {
  const { terminal, shown } = asking(answers)
  const asked: object[] = []
  const histories = {
    async list(question: object) {
      asked.push(question)
      return { histories: all.slice(1), cursor: null }
    }
  }
  const options = { terminal, env: { NO_COLOR: '1' }, words, histories }
  const result = await chooseHistory(found, options as never).catch(error => ({ says: error.message, code: error.exitCode }))
  return { result, shown: shown(), asked }
}

t.test('the only conversation that matches the words is adopted, and otherwise a person picks one', async t => {
  const [pears, plums] = all
  t.strictSame(await picked(all.slice(0, 1), ['pears'], []), { result: pears, shown: '', asked: [] })
  const list = '\n  1  pears\n     codex in /srv/orchard, open now\n  2  plums\n     codex in /srv/orchard, 5 min ago\n\n'
  const question = (range: string) => `Which one? ${range}, words to search for, or Enter to cancel: `
  t.strictSame(await picked(all, [], ['2']), { result: plums, shown: `${list}${question('1 to 2')}`, asked: [] })
  const searched = await picked(all.slice(0, 1), [], ['ripe plums', '1'])
  t.strictSame(searched.result, plums)
  t.strictSame(searched.asked, [{ words: 'ripe plums', limit: 30 }])
  t.match(searched.shown, question('1'))
})

t.test('without a conversation, an answer or somebody to ask, nothing is adopted', async t => {
  const several = 'Several conversations match. Give its ID or more words.'
  const cases: [found: readonly ListedHistory[], words: string[], answers: (string | undefined)[], says: string, code: number][] = [
    [[], [], [], `No agent has a conversation on this computer yet. Start one with:\n  ${typed('claude')}`, 78],
    [[], ['figs'], [], `No conversation matches these words. Pick one with:\n  ${typed('adopt')}`, 78],
    [all, ['p'], [undefined], several, 78],
    [all, [], [''], 'Nothing was adopted.', 1]
  ]
  for (const [found, words, answers, says, code] of cases) t.strictSame((await picked(found, words, answers)).result, { says, code }, says)
})

t.test('a conversation is found by its ID or its words, and its folder must still exist', async t => {
  const own = realpathSync(t.testdir({ home: {}, codex: {}, here: {} }))
  const idOf = (number: number) => `0000000${number}-0000-4000-8000-000000000000`
  const adopt = (...words: string[]) =>
    here(t, 'adopt', { words }, { AFIELD_HOME: join(own, 'home'), CODEX_HOME: join(own, 'codex'), CLAUDE_CONFIG_DIR: join(own, 'none') })
  writeCodex(join(own, 'codex'), join(own, 'gone'), idOf(1), 0)
  writeCodex(join(own, 'codex'), join(own, 'here'), idOf(2), 0)
  const gone = { code: 78, stdout: '', stderr: `Its folder ${join(own, 'gone')} no longer exists.\n` }
  t.strictSame(await adopt(idOf(1)), gone)
  t.strictSame(await adopt('hedge', 'gone'), gone)
  t.match(await adopt(idOf(1), idOf(2)), { code: 78, stderr: /^No conversation matches these words\./ })
  t.match(await adopt('hedge'), { code: 78, stdout: / 1 {2}Prune the hedge\n.* 2 {2}Prune/s, stderr: /^Several conversations match\./ })
  t.match(await adopt(idOf(2)), { code: 78, stdout: '', stderr: /^No server is known yet\./ })
})
