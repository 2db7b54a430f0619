import { join } from 'node:path'
import t from 'tap'
import { codexHistories } from '../../../lib/wrapper/histories/codex.ts'

const id = '0199a213-81c0-7800-8aa1-bbab2a035a53'

t.test('the threads of Codex are found in its home, wherever that is, and none where it never ran', async t => {
  const day = { [`rollout-2026-01-02T03-04-05-${id}.jsonl`]: '', 'rollout-of-another.jsonl': '', 'notes.txt': '' }
  const home = t.testdir({ '.codex': { sessions: { 2026: { '01': { '02': day } } } }, other: {} })
  const own = { agent: 'codex', id, file: join(home, `.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl`) }
  t.match(codexHistories({ HOME: home }), [own])
  t.equal(codexHistories({ HOME: home }).length, 1)
  t.match(codexHistories({ HOME: join(home, 'other'), CODEX_HOME: join(home, '.codex') }), [own])
  t.same(codexHistories({ HOME: home, CODEX_HOME: join(home, 'other') }), [])
  t.same(codexHistories({ HOME: join(home, 'other') }), [])
})
