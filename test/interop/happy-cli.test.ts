import t from 'tap'
import { cacheDirectory, findHappy, happyVersion } from './happy.ts'
import { playScenario } from './scenario.ts'
import { Steps } from './steps.ts'

const entry = findHappy(cacheDirectory())
const skip = !entry && `happy@${happyVersion} is not in ${cacheDirectory()}; node test/interop/happy-cli.ts --install fetches it`

t.test('the published happy CLI works against this server unchanged', { skip, timeout: 120_000 }, async t => {
  if (!entry) return
  const steps = new Steps(line => t.comment(line))
  await playScenario({ entry, folder: t.testdir(), steps, form: 2, teardown: end => t.teardown(end) })
  t.pass(steps.summary())
})
