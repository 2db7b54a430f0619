import t from 'tap'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createRequests } from '../../../../lib/wrapper/agents/codex/requests.ts'

t.test('a permanent yes says what Codex will then allow', t => {
  const common = { threadId: 'thread', turnId: 'turn', itemId: 'item' }
  const rule = (words: string[]) => ({ acceptWithExecpolicyAmendment: { execpolicy_amendment: words } })
  const host = { applyNetworkPolicyAmendment: { network_policy_amendment: { host: 'example.org', action: 'allow' } } }
  const availableDecisions = ['accept', 'acceptForSession', rule(['npm', 'run']), host]
  const cases: [string, object, string[]][] = [
    ['item/fileChange/requestApproval', common, ['Allow edits to these files this session']],
    [
      'item/commandExecution/requestApproval',
      { ...common, command: 'npm run build', availableDecisions },
      ['Allow this command this session', 'Always allow npm run *', 'Always allow example.org']
    ],
    ['item/permissions/requestApproval', { ...common, permissions: { network: true } }, ['Allow these rights this session']]
  ]
  for (const [method, params, labels] of cases) {
    const events: AgentEvent[] = []
    const requests = createRequests({ emit: event => events.push(event), reply() {}, step: () => undefined })
    t.ok(requests.ask(1, method, params))
    t.same(
      events
        .flatMap(event => (event.type === 'permission-asked' ? event.asked.choices : []))
        .flatMap(({ kind, label }) => (kind === 'allow_always' ? label : [])),
      labels
    )
  }
  t.end()
})
