import t from 'tap'
import type { AgentEvent } from '../../../../lib/wrapper/agents/agent.ts'
import { createRequests } from '../../../../lib/wrapper/agents/opencode/requests.ts'

t.test('a permanent yes says what opencode will then allow', t => {
  const cases: [string, string[], string][] = [
    ['edit', ['*'], 'Allow all edits this session'],
    ['edit', ['src/*'], 'Allow edits to src/* this session'],
    ['bash', ['npm run *', 'ls *'], 'Allow npm run *, ls * this session'],
    ['bash', ['*'], 'Allow every command this session'],
    ['webfetch', ['*'], 'Allow webfetch this session'],
    ['external_directory', ['/tmp/*'], 'Allow work in /tmp/* this session']
  ]
  for (const [permission, always, label] of cases) {
    const events: AgentEvent[] = []
    const requests = createRequests({ emit: event => events.push(event), post: async () => {} })
    requests.permission({ id: 'p', sessionID: 's', permission, patterns: [], metadata: {}, always }, undefined)
    t.match(events, [{ type: 'permission-asked', asked: { choices: [{ id: 'once' }, { id: 'always', label }, { id: 'reject' }] } }])
  }
  t.end()
})
