import t from 'tap'
import type { Grant, Grants } from '../../../lib/protocol/sealed/decisions/grants.ts'
import { lastingChoice } from '../../../lib/wrapper/agents/grants.ts'

const labelOf = (what: Grant[], lasts: Grants['lasts'] = 'always') => lastingChoice('yes', { lasts, what }).label

t.test('a permanent yes is named after what it allows', t => {
  const cases: [type: Grant['type'], of: string[], label: string][] = [
    ['edits', [], 'all edits'],
    ['everything', [], 'everything'],
    ['files', [], 'edits to these files'],
    ['files', ['a.ts', 'b.ts'], 'edits to a.ts, b.ts'],
    ['commands', [], 'this command'],
    ['commands', ['npm test', 'git log'], 'npm test, git log'],
    ['hosts', [], 'this'],
    ['hosts', ['example.org'], 'example.org'],
    ['tools', [], 'this'],
    ['tools', ['Search'], 'Search'],
    ['folders', ['/srv'], 'work in /srv'],
    ['rights', [], 'these rights']
  ]
  for (const [type, of, label] of cases) t.equal(labelOf([{ type, of }]), `Always allow ${label}`)
  t.end()
})

t.test('one for a session says so, and all it allows is named', t => {
  const what: Grant[] = [
    { type: 'edits', of: [] },
    { type: 'commands', of: ['ls'] }
  ]
  t.equal(labelOf(what, 'session'), 'Allow all edits, ls this session')
  const grants: Grants = { lasts: 'session', what }
  t.strictSame(lastingChoice('yes', grants), { id: 'yes', label: labelOf(what, 'session'), kind: 'allow_always', grants })
  t.end()
})
