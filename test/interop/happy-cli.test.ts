import t from 'tap'
import { lacksPublished } from '../kit/needs.ts'
import { findHappy } from './happy.ts'
import { playScenario } from './scenario.ts'
import { Steps } from './steps.ts'

t.test('the published happy CLI works against this server unchanged', { skip: lacksPublished(), timeout: 120_000 }, async t => {
  const entry = findHappy()
  if (!entry) throw new Error('Nobody fetched it.')
  const steps = new Steps(line => t.comment(line))
  await playScenario({ entry, folder: t.testdir(), steps, form: 2, teardown: end => t.teardown(end) })
  t.pass(steps.summary())
})
