import t from 'tap'
import type { UsageWindow } from '../../../../lib/protocol/sealed/session.ts'
import { freeAgents, openWindows } from '../../../../web/model/session/free-agents.ts'
import { limitedUntil } from '../../../../web/model/session/usage-limit.ts'
import { emptyTranscript } from '../../../../web/model/transcript/transcript.ts'
import { homeOf, session, studio } from '../../stories/app/world.ts'

const at = Date.now()
const hours: UsageWindow = { minutes: 300, usedPercent: 100, resetsAt: at + 1000, isReached: true }
const week: UsageWindow = { minutes: 10080, usedPercent: 99, resetsAt: at + 9000, isReached: false }

t.test('a limit lasts until the last exceeded window reopens, and details of an earlier one are not shown for it', async t => {
  const until = (windows: UsageWindow[]) => limitedUntil(emptyTranscript, { windows }, at)
  t.equal(until([hours, week]), at + 1000)
  t.equal(until([hours, { ...week, isReached: true }]), at + 9000)
  t.equal(until([{ ...hours, resetsAt: at - 1 }]), undefined)
  t.equal(until([{ minutes: 300, isReached: true }]), undefined, 'without a time nothing can be promised')
  t.strictSame(openWindows([{ ...hours, resetsAt: at }, week], at), [week])
})

t.test('alternatives are the agents of its machine that are signed in and within their limits', async t => {
  const own = session({ title: 'own', agent: 'claude', metadata: { usageWindows: [hours] } })
  const codex = session({ title: 'codex', agent: 'codex', metadata: { usageWindows: [hours] } })
  const agents = ['claude', 'codex', 'opencode', 'demo'].map(agent => ({ agent, title: agent }))
  const signedOut = { agent: 'gemini', title: 'gemini', isSignedIn: false }
  const free = (others: (typeof own)[], when = at) =>
    freeAgents([...agents, signedOut], own.id, homeOf([studio], [own, ...others]), when).map(({ agent }) => agent)
  t.strictSame(free([]), ['codex', 'opencode'])
  t.strictSame(free([codex]), ['opencode'])
  t.strictSame(free([codex], at + 2000), ['codex', 'opencode'])
  t.strictSame(free([{ ...codex, metadata: { ...codex.metadata, path: '/', host: 'x', machineId: 'elsewhere' } }]), ['codex', 'opencode'])
})
