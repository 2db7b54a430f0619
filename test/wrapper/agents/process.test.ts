import t from 'tap'
import { withoutTraces } from '../../../lib/wrapper/agents/process.ts'

t.test("of a program's last output, stack traces are removed and sentences stay", t => {
  const cases: [wrote: string, shown: string][] = [
    [
      [
        'claude auth status failed: Command failed: /bin/false auth status --json',
        '',
        '[session/create] sessionId=9b9d2459-ce76 phase=settings durationMs=4 totalMs=5',
        '[session/query] sessionId=9b9d2459-ce76 resume=none apiType=native baseUrl=native'
      ].join('\n'),
      'claude auth status failed: Command failed: /bin/false auth status --json'
    ],
    ['[session/new] The key was refused', 'The key was refused'],
    [
      [
        '/srv/agent/index.js:12',
        "    throw new Error('no key')",
        '    ^',
        '',
        'Error: no key',
        '    at open (/srv/agent/index.js:12:11)',
        '    at async Promise.all (index 0)',
        '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5) {',
        "  code: 'E_KEY'",
        '}',
        '',
        'Node.js v24.1.0'
      ].join('\n'),
      "Error: no key\n  code: 'E_KEY'\n}"
    ],
    ['look at the manual: https://example.org:3000', 'look at the manual: https://example.org:3000'],
    ['', '']
  ]
  for (const [wrote, shown] of cases) t.equal(withoutTraces(wrote), shown)
  t.end()
})
