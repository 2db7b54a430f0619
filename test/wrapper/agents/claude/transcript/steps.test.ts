import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createOverwritten, planOf, stepOf } from '../../../../../lib/wrapper/agents/claude/transcript/steps.ts'

t.test('an input that is no text stands in no title, place or change', async t => {
  const wrong = { a: 1 }
  const steps = [
    stepOf('1', 'Bash', { command: wrong }),
    stepOf('2', 'Grep', { pattern: null }),
    stepOf('3', 'WebFetch', { url: 5 }),
    stepOf('4', 'Write', { file_path: wrong, content: 'text' }),
    stepOf('5', 'Edit', { file_path: '/a/b.txt', old_string: 'old', new_string: wrong })
  ]
  t.strictSame(
    steps.map(({ title }) => title),
    ['Run a command', 'Search', 'Fetch', 'Write', 'Edit b.txt']
  )
  t.strictSame(
    steps.map(({ locations, content }) => [locations, content]),
    [
      [[], []],
      [[], []],
      [[], []],
      [[], []],
      [['/a/b.txt'], []]
    ]
  )
})

t.test('a use of a tool is a step with a title, a kind and a place', async t => {
  const cases: [name: string, input: Record<string, unknown>, step: object][] = [
    ['Bash', { command: 'make' }, { title: 'make', kind: 'execute', locations: [] }],
    ['Read', { file_path: '/a/b' }, { title: 'Read b', kind: 'read', locations: ['/a/b'] }],
    ['NotebookRead', { notebook_path: '/a/b' }, { title: 'NotebookRead', kind: 'read', locations: ['/a/b'] }],
    ['LS', { path: '/a' }, { title: 'LS', kind: 'search', locations: ['/a'] }],
    ['Glob', { pattern: '*.ts' }, { title: 'Search *.ts', kind: 'search' }],
    ['WebFetch', { url: 'https://example.org' }, { title: 'Fetch https://example.org', kind: 'fetch' }],
    ['WebSearch', { query: 'tea' }, { title: 'Search the web: tea', kind: 'fetch' }],
    ['WebSearch', {}, { title: 'Search the web: ' }],
    ['Task', { description: 'Look for tea' }, { title: 'Look for tea', kind: 'other' }],
    ['Agent', {}, { title: 'Hand a task to a subagent', kind: 'other' }],
    ['ExitPlanMode', { plan: 'First this.' }, { title: 'Ready to code?', kind: 'plan', content: [{ type: 'text', text: 'First this.' }] }],
    ['ExitPlanMode', {}, { content: [] }],
    ['Other', { plan: 'First this.' }, { title: 'Other', content: [] }],
    ['mcp__my_shop__find_tea', {}, { title: 'my_shop: find_tea', kind: 'other' }]
  ]
  for (const [name, input, step] of cases) {
    const told = stepOf('c', name, input)
    t.strictSame(told, { ...told, call: 'c', name, input, ...step }, name)
  }
})

t.test('a step shows what it changes', async t => {
  const path = '/a/b'
  const change = (oldText: string | null, newText: string) => ({ type: 'diff', path, oldText, newText })
  const content = (name: string, input: object, overwritten?: string) =>
    stepOf('c', name, { file_path: path, ...input }, overwritten).content
  t.strictSame(content('Write', { content: 'new' }), [change(null, 'new')])
  t.strictSame(content('Write', { content: 'new' }, 'old'), [change('old', 'new')])
  t.strictSame(content('Edit', { old_string: 'old', new_string: 'new' }), [change('old', 'new')])
  t.strictSame(content('Edit', { new_string: 'new' }), [change(null, 'new')])
  const edits = [{ old_string: 'a', new_string: 'b' }, 'odd', null, [], { old_string: 'c' }, { old_string: 'd', new_string: '' }]
  t.strictSame(content('MultiEdit', { edits }), [change('a', 'b'), change('d', '')])
  t.strictSame(content('MultiEdit', { edits: 'odd' }), [])
  t.strictSame(content('Read', { content: 'new' }), [])
  t.strictSame(content('Write', { content: 'x'.repeat(512 * 1024 + 1) }), [{ type: 'text', text: '/a/b: too large to show here.' }])
})

t.test('a plan is what can be read of a to-do list', async t => {
  const entry = (status?: unknown) => ({ content: 'Tea', status })
  const todos = [entry('in_progress'), entry('completed'), entry('unheard of'), { content: 'Ice' }, null, 'Tea', {}, { content: 5 }]
  t.strictSame(planOf('TodoWrite', { todos }), [
    entry('in_progress'),
    entry('completed'),
    entry('pending'),
    { content: 'Ice', status: 'pending' }
  ])
  t.strictSame(planOf('TodoWrite', { todos: [] }), [])
  t.equal(planOf('TodoWrite', { todos: 'none' }), undefined)
  t.equal(planOf('Other', { todos }), undefined)
})

t.test('the previous content of a file is read once, before it is overwritten', async t => {
  const folder = t.testdir({ b: 'old', empty: '', binary: 'a\0b', folder: {} })
  const input = (name: string, content = 'new') => ({ file_path: join(folder, name), content })
  const overwritten = createOverwritten()
  t.equal(overwritten.read('1', 'Write', input('b')), 'old')
  writeFileSync(join(folder, 'b'), 'new')
  t.equal(overwritten.read('1', 'Write', input('b')), 'old', 'it is still known')
  t.equal(overwritten.read('2', 'Write', input('b')), undefined, 'this was asked too late')
  t.equal(overwritten.read('3', 'Edit', input('b', 'other')), undefined)
  t.equal(overwritten.read('4', 'Write', input('empty')), '')
  for (const name of ['binary', 'folder', 'gone']) t.equal(overwritten.read(name, 'Write', input(name)), undefined, name)
  t.equal(overwritten.read('5', 'Write', { file_path: 'b', content: '' }), undefined, 'its folder is not known')
  t.equal(overwritten.read('6', 'Write', { file_path: 5 }), undefined)
  writeFileSync(join(folder, 'large'), 'x'.repeat(512 * 1024))
  t.equal(overwritten.read('7', 'Write', input('large'))?.length, 512 * 1024)
  writeFileSync(join(folder, 'larger'), 'x'.repeat(512 * 1024 + 1))
  t.equal(overwritten.read('8', 'Write', input('larger')), undefined)
})

t.test('only the last files that were overwritten are kept', async t => {
  const file_path = join(t.testdir({ b: 'old' }), 'b')
  const overwritten = createOverwritten()
  const read = (call: number) => overwritten.read(String(call), 'Write', { file_path, content: 'new' })
  for (let call = 1; call <= 20; call++) read(call)
  writeFileSync(file_path, 'new')
  t.equal(read(1), 'old')
  t.equal(read(21), undefined)
  t.equal(read(2), 'old')
  t.equal(read(1), undefined, 'the oldest was forgotten')
})
