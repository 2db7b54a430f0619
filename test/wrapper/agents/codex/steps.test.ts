import t, { type Test } from 'tap'
import * as v from '../../../../lib/schema.ts'
import { type Item, turnsPage } from '../../../../lib/wrapper/agents/codex/shapes.ts'
import { askedCommand, askedStep, endOf, stepOf } from '../../../../lib/wrapper/agents/codex/steps.ts'

const text = (text: string) => ({ type: 'text', text })
const plain = { locations: [], content: [] }

t.test('what Codex does is a step with a title, its places and its result', t => {
  const mcp = { type: 'mcpToolCall', server: 'shop', tool: 'find', status: 'completed' }
  const steps: [item: object, step: object][] = [
    [
      { ...mcp, arguments: { name: 'tea' }, result: { content: [{ text: 'one' }, { image: 'x' }, { text: 'two' }] } },
      { name: 'mcp__shop__find', title: 'shop: find', kind: 'other', input: { name: 'tea' }, locations: [], content: [text('one\n\ntwo')] }
    ],
    [
      { ...mcp, arguments: ['tea'], result: { content: [{ text: 'one' }] }, error: { message: 'The shop is closed.' } },
      { input: {}, content: [text('The shop is closed.')] }
    ],
    [mcp, { input: {}, ...plain }],
    [
      { type: 'webSearch', query: 'tea' },
      { name: 'WebSearch', title: 'tea', kind: 'fetch', input: { query: 'tea' }, ...plain }
    ],
    [
      { type: 'webSearch', query: '' },
      { title: 'Search the web', input: { query: '' } }
    ],
    [{ type: 'webSearch' }, { title: 'Search the web', input: { query: '' } }],
    [
      { type: 'imageView', path: '/a/b.png' },
      { name: 'Read', title: 'Look at /a/b.png', kind: 'read', input: { path: '/a/b.png' }, locations: ['/a/b.png'], content: [] }
    ]
  ]
  for (const [item, step] of steps) hasStep(t, item, step)
  t.end()
})

t.test('messages are no steps', t => {
  const messages = [
    { type: 'userMessage', content: [] },
    { type: 'agentMessage', text: 'Hello.' },
    { type: 'plan', text: 'First.' },
    { type: 'reasoning' },
    { type: 'enteredReviewMode', review: 'it' },
    { type: 'exitedReviewMode', review: 'it' },
    { type: 'contextCompaction' }
  ]
  for (const message of messages) t.equal(stepOf(itemOf(message)), undefined, message.type)
  t.end()
})

t.test('a command is read without its shell; its kind is that of its only action', t => {
  const read = { type: 'read', path: '/a/b' }
  const commands: [about: object, step: object][] = [
    [
      { command: "/bin/bash -lc 'cat b'", cwd: '/a', commandActions: [read], aggregatedOutput: 'B' },
      { name: 'Bash', title: 'cat b', kind: 'read', input: { command: 'cat b', cwd: '/a' }, locations: ['/a/b'], content: [text('B')] }
    ],
    [
      { command: 'sh -c ls', commandActions: [{ type: 'listFiles', path: null }] },
      { title: 'ls', kind: 'search', locations: [] }
    ],
    [
      { command: 'bash -lc "grep x"', commandActions: [{ type: 'search' }] },
      { title: 'grep x', kind: 'search' }
    ],
    [{ commandActions: [read, { type: 'search', path: '/a/c' }] }, { title: 'run', kind: 'execute', locations: ['/a/b', '/a/c'] }],
    [{ commandActions: [{ type: 'unknown' }] }, { kind: 'execute' }],
    [{}, { kind: 'execute', input: { command: 'run' }, ...plain }],
    [{ aggregatedOutput: ' \n' }, { content: [] }]
  ]
  for (const [about, step] of commands) {
    hasStep(t, { type: 'commandExecution', command: 'run', status: 'completed', ...about }, step)
  }
  t.notOk('cwd' in (stepOf(itemOf({ type: 'commandExecution', command: 'run', status: 'completed' }))?.input ?? {}))
  t.same(askedCommand('c', "bash -lc 'make'", '/a').input, { command: 'make', cwd: '/a' })
  t.same(askedCommand('c', 'make', undefined).input, { command: 'make' })
  t.equal(askedCommand('c', `bash -lc 'echo '"'"'hi'"'"' '\\''you'\\'''`, undefined).title, "echo 'hi' 'you'")
  t.end()
})

t.test('what Codex asks about without a step is shown as one', t => {
  t.strictSame(askedCommand('c', 'make', undefined), {
    call: 'c',
    name: 'Bash',
    title: 'make',
    kind: 'execute',
    input: { command: 'make' },
    ...plain
  })
  t.strictSame(askedStep('c', 'Edit files', { a: 1 }), {
    call: 'c',
    name: 'Tool',
    title: 'Edit files',
    kind: 'other',
    input: { a: 1 },
    ...plain
  })
  t.end()
})

t.test('changed files are named, and each change is shown', t => {
  const unified = '@@ -1 +1 @@\n-old\n+new\n'
  const change = (path: string, type: string, diff: string, move_path?: string) => ({ path, kind: { type, move_path }, diff })
  const changed = (path: string) => ({ type: 'diff', path, oldText: 'old\n', newText: 'new\n' })
  const removed = (path: string) => ({ type: 'diff', path, oldText: 'old\n', newText: '' })
  const huge = 'x'.repeat(512 * 1024)
  const edits: [changes: object[], step: object][] = [
    [
      [change('/a/b', 'add', 'new\n'), change('/a/c', 'add', '')],
      {
        name: 'Write',
        kind: 'edit',
        title: 'Write b, c',
        input: { file_paths: ['/a/b', '/a/c'] },
        locations: ['/a/b', '/a/c'],
        content: [
          { type: 'diff', path: '/a/b', oldText: null, newText: 'new\n' },
          { type: 'diff', path: '/a/c', oldText: null, newText: '' }
        ]
      }
    ],
    [
      [change('/a/b', 'delete', 'old\n')],
      {
        name: 'Delete',
        kind: 'delete',
        title: 'Delete b',
        input: { file_path: '/a/b' },
        content: [removed('/a/b')]
      }
    ],
    [
      [change('/a/b', 'delete', 'old\n'), change('/a/c', 'update', unified)],
      { name: 'Edit', kind: 'edit', title: 'Edit b, c', content: [removed('/a/b'), changed('/a/c')] }
    ],
    [[change('/a/b', 'update', unified, '/a/d')], { name: 'Edit', kind: 'edit', title: 'Move b to d', content: [changed('/a/b')] }],
    [[change('/a/b', 'update', '', '/a/d')], { name: 'Edit', kind: 'move', title: 'Move b to d', content: [] }],
    [[change('/a/b', 'update', '', '/a/d'), change('/a/c', 'update', unified)], { kind: 'edit', title: 'Edit b, c' }],
    [[], { name: 'Edit', kind: 'edit', input: { file_paths: [] } }],
    [[change('/a/b', 'add', huge)], { content: [{ type: 'diff', path: '/a/b', oldText: null, newText: huge }] }],
    [[change('/a/b', 'add', `${huge}x`)], { content: [text('/a/b: too large to show here.')] }],
    [[change('/a/b', 'update', `${unified}${huge}`)], { content: [text('/a/b: too large to show here.')] }]
  ]
  for (const [changes, step] of edits) hasStep(t, { type: 'fileChange', status: 'completed', changes }, step)
  t.end()
})

t.test('a step ends as Codex says; one without a status is complete', t => {
  const command = (status: string) => itemOf({ type: 'commandExecution', command: 'run', status })
  t.equal(endOf(command('completed')), 'completed')
  t.equal(endOf(command('failed')), 'failed')
  t.equal(endOf(command('declined')), 'denied')
  t.equal(endOf(command('inProgress')), 'cancelled')
  t.equal(endOf(itemOf({ type: 'imageView', path: '/a' })), 'completed')
  t.end()
})

/** The step of an item has these fields, among others. */
function hasStep(t: Test, item: object, step: object) {
  const told = stepOf(itemOf(item))
  t.strictSame(told, { ...told, call: 'i', ...step }, JSON.stringify(item).slice(0, 200))
}

function itemOf(about: object): Item {
  const { data } = v.parse(turnsPage, { data: [{ id: 't', status: 'completed', items: [{ id: 'i', ...about }] }] })
  const item = data[0]?.items[0]
  if (item === undefined) throw new Error('Codex has no such item.')
  return item
}
