import t from 'tap'
import type { Answered, OpenRequest } from '../../../../web/model/decisions/decisions.ts'
import type { OpenQuestion } from '../../../../web/model/decisions/questions.ts'
import type { Item, Step } from '../../../../web/model/transcript/items.ts'
import { summarySince } from '../../../../web/model/transcript/summary.ts'

const until = 100

const step = (seq: number, kind: Step['kind'], more: Partial<Step> = {}): Step => ({
  type: 'step',
  key: `s${seq}`,
  seq,
  at: seq,
  call: `c${seq}`,
  kind,
  name: kind,
  title: '',
  description: '',
  args: {},
  locations: [],
  content: [],
  state: 'ok',
  endedAt: seq,
  ...more
})

t.test('events during an absence are summarized in numbers, and marked incomplete when older ones are missing', async t => {
  const items: Item[] = [
    step(3, 'edit', { locations: ['/old.ts'] }),
    step(6, 'edit', { locations: ['/a.ts'] }),
    step(7, 'edit', { locations: ['/a.ts'] }),
    step(8, 'execute', { state: 'failed' }),
    { type: 'prose', key: 'p', seq: 9, at: 9, text: 'Done.' }
  ]
  const messages = [{ seq: 2, localId: null, at: 2, body: undefined }]
  t.match(summarySince({ items, messages }, 5, { until, hasOlder: true }), {
    files: 1,
    commands: 1,
    failed: 1,
    messages: 1,
    questions: 0,
    first: 6,
    isWhole: true
  })
  t.equal(summarySince({ items, messages }, 0, { until, hasOlder: true }).isWhole, false)
  t.equal(summarySince({ items, messages }, 0, { until, hasOlder: false }).isWhole, true, 'nothing is older, whatever the numbers say')
  t.equal(summarySince({ items, messages }, 9, { until, hasOlder: true }).first, undefined)
})

t.test('passing tests are reported only if the exit code of their last run is known', async t => {
  const run = (command: string, text: string, more: Partial<Step> = {}) =>
    step(6, 'execute', { args: { command }, content: [{ type: 'text', text }], ...more })
  const told = (runs: Step[], tellsFailures = false) =>
    summarySince({ items: runs, messages: [] }, 5, { until, hasOlder: false, tellsFailures }).tests
  const good = 'exit code: 0'
  for (const command of [
    'npm test',
    'npm test -- auth',
    'cd api && npm run test:unit',
    'pytest -q',
    'cargo test --all',
    'go test ./...',
    'npx vitest run',
    'node --test',
    './gradlew test',
    'npm run check'
  ])
    t.equal(told([run(command, good)]), 'pass', command)
  for (const command of [
    'npm install',
    'cat test.txt',
    'npm test | tail',
    'npm test; true',
    'npm test || true',
    'npm test &',
    'git add test/',
    'latest'
  ])
    t.equal(told([run(command, good)]), undefined, command)
  t.equal(told([run('npm test', 'exit code: 1')]), 'fail')
  t.equal(told([run('npm test', good), run('npm test', 'exit code: 2')]), 'fail')
  t.equal(told([run('npm test && npm run lint', 'exit code: 1')]), undefined)
  t.equal(told([run('npm test', '12 passed')]), undefined)
  t.equal(told([run('npm test', '12 passed')], true), 'pass')
  t.equal(told([run('npm test', 'Started', { args: { command: 'npm test', run_in_background: true } })], true), undefined)
  t.equal(told([run('npm test', '', { state: 'running', endedAt: undefined })], true), undefined)
})

t.test('a request to the person counts once, whichever agent asked and whoever answered', async t => {
  const answered = (id: string, at: number, more: Partial<Answered> = {}): Answered => ({
    id,
    call: undefined,
    tool: 'Bash',
    args: {},
    title: undefined,
    outcome: 'allowed-once',
    reason: undefined,
    by: 'Tablet',
    at,
    ...more
  })
  const asked = {
    requests: [
      { id: 'r1', tool: 'Bash', arguments: {}, createdAt: 9 },
      { id: 'r2', tool: 'Bash', arguments: {}, createdAt: 2 }
    ] as OpenRequest[],
    questions: [{ id: 'q1', createdAt: 8, title: undefined, call: 'c6', shown: undefined, type: 'form', questions: [] }] as OpenQuestion[],
    answered: [
      answered('a1', 7),
      answered('a2', 3),
      answered('a3', 7, { by: undefined, rule: 'npm test' }),
      answered('a4', 7, { said: { text: 'Redis' } })
    ]
  }
  const items = [step(6, 'other', { name: 'AskUserQuestion' })]
  t.match(summarySince({ items, messages: [] }, 5, { until, hasOlder: false, asked }), { questions: 2, decisions: 2 })
})

t.test('events after the return are not counted', async t => {
  const asked = {
    requests: [{ id: 'r1', tool: 'Bash', arguments: {}, createdAt: 9 }] as OpenRequest[],
    questions: [],
    answered: []
  }
  const items = [step(6, 'execute'), step(8, 'execute', { state: 'failed' }), step(9, 'edit')]
  const told = summarySince({ items, messages: [] }, 5, { until: 7, hasOlder: false, asked })
  t.match(told, { commands: 1, failed: 0, files: 0, decisions: 0, first: 6 })
  t.equal(summarySince({ items, messages: [] }, 6, { until: 7, hasOlder: false }).first, undefined, 'nothing came while they were away')
})
