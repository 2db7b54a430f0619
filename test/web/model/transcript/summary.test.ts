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

t.test('a test run counts only once it ended after the message, and a shown success only of a step that succeeded', async t => {
  const run = (seq: number, more: Partial<Step> = {}, code = 0) =>
    step(seq, 'execute', { args: { command: 'npm test' }, content: [{ type: 'text', text: `exit code: ${code}` }], ...more })
  const told = (items: Item[], tellsFailures = false) =>
    summarySince({ items, messages: [] }, 5, { until, hasOlder: false, tellsFailures }).tests
  t.equal(told([run(5)]), undefined, 'it was there before')
  t.equal(told([run(6), run(7, { state: 'running', endedAt: undefined }, 1)]), 'pass', 'the next still runs')
  t.equal(told([run(6), run(7, { kind: 'read' }, 1)]), 'pass', 'reading them is no run')
  t.equal(told([run(6), { type: 'note', key: 'n', seq: 7, at: 7, text: 'npm test' }]), 'pass')
  t.equal(told([run(6, { content: [], state: 'failed' })], true), undefined)
  t.equal(told([run(6, { content: [], state: 'done' })], true), undefined)
  t.equal(told([run(6, { args: {}, title: 'npm test' })]), 'pass', 'by its title if its arguments do not say')
})

t.test('each changed file counts once, one that is not named as its own', async t => {
  const items = [
    step(6, 'edit', { locations: ['/a.ts', '/b.ts'] }),
    step(7, 'delete', { locations: ['/b.ts'] }),
    step(8, 'move'),
    step(9, 'edit'),
    step(10, 'read', { locations: ['/c.ts'] })
  ]
  const told = summarySince({ items, messages: [] }, 5, { until, hasOlder: false })
  t.match(told, { files: 4, commands: 0, failed: 0, messages: 0, questions: 0, decisions: 0 })
})

t.test('the summary is whole if the message after the last one seen is loaded', async t => {
  const isWhole = (first: number | undefined) => {
    const messages = first === undefined ? [] : [{ seq: first, localId: null, at: 2, body: undefined }]
    return summarySince({ items: [], messages }, 5, { until, hasOlder: true }).isWhole
  }
  t.same([isWhole(5), isWhole(6), isWhole(7), isWhole(undefined)], [true, true, false, true])
})

t.test('questions and decisions are those from the first event on until the return, each once', async t => {
  const asked = {
    requests: [
      { id: 'r1', tool: 'Bash', arguments: {}, createdAt: 6 },
      { id: 'r2', tool: 'Bash', arguments: {}, createdAt: 5 },
      { id: 'r3', tool: 'AskUserQuestion', arguments: {}, createdAt: 7 },
      { id: 'r4', tool: 'Bash', arguments: {}, createdAt: 8 },
      { id: 'r5', tool: 'Bash', arguments: {}, createdAt: 9 }
    ] as OpenRequest[],
    questions: [
      { id: 'q1', createdAt: 7, call: undefined },
      { id: 'q2', createdAt: 5, call: undefined },
      { id: 'q3', createdAt: 7, call: 'c7' }
    ] as OpenQuestion[],
    answered: [
      { id: 'a1', at: 7, tool: 'AskUserQuestion', call: undefined, by: 'Tablet' },
      { id: 'r1', at: 7, tool: 'Bash', call: undefined, by: undefined },
      { id: 'a2', at: 7, tool: 'Bash', call: undefined, by: undefined, rule: 'ls' }
    ] as unknown as Answered[]
  }
  const items = [step(6, 'execute'), step(7, 'other', { name: 'AskUserQuestion' })]
  t.match(summarySince({ items, messages: [] }, 5, { until: 8, hasOlder: false, asked }), { questions: 3, decisions: 2 })
  const ruled = [{ id: 'a3', at: 6, tool: 'Bash', call: undefined, by: 'Tablet', rule: 'ls' }] as unknown as Answered[]
  const until8 = { until: 8, hasOlder: false, asked: { ...asked, answered: ruled } }
  t.match(
    summarySince({ items: [...items, step(8, 'execute')], messages: [] }, 5, until8),
    { commands: 2, decisions: 3 },
    'a person made that rule'
  )
  t.match(summarySince({ items: [], messages: [] }, 5, { until: 8, hasOlder: false, asked }), { questions: 0, decisions: 0 })
  t.match(summarySince({ items, messages: [] }, 5, { until: 8, hasOlder: false }), { questions: 1, decisions: 0 })
})
