import t, { type Test } from 'tap'
import type { ToolPart } from '../../../../lib/wrapper/agents/opencode/shapes.ts'
import { askedStep, diffsOf, planOf, stepOf } from '../../../../lib/wrapper/agents/opencode/steps.ts'

const unified = '--- b\n+++ b\n@@ -1 +1 @@\n-old\n+new\n'
const text = (text: string) => ({ type: 'text', text })
const changed = (path: string) => ({ type: 'diff', path, oldText: 'old\n', newText: 'new\n' })

t.test('a use of a tool is a step with a title, a kind and a place', t => {
  const steps: [tool: string, input: Record<string, unknown>, step: object][] = [
    ['bash', { command: 'make' }, { name: 'Bash', title: 'make', kind: 'execute', locations: [] }],
    ['read', { filePath: '/a/b' }, { name: 'Read', title: 'Read b', kind: 'read', locations: ['/a/b'] }],
    ['edit', { filePath: '/a/b', path: '/a/c' }, { name: 'Edit', title: 'Edit b', kind: 'edit', locations: ['/a/b'] }],
    ['write', { filePath: '/a/b' }, { name: 'Write', title: 'Write b', kind: 'edit' }],
    ['multiedit', { filePath: '/a/b' }, { name: 'multiedit', title: 'Edit b', kind: 'edit' }],
    ['read', {}, { title: 'As opencode says', locations: [] }],
    ['list', { path: '/a' }, { name: 'LS', title: 'List /a', kind: 'read', locations: ['/a'] }],
    ['list', {}, { title: 'As opencode says' }],
    ['glob', { pattern: '*.ts' }, { name: 'Glob', title: 'Search *.ts', kind: 'search' }],
    ['grep', {}, { name: 'Grep', title: 'Search', kind: 'search' }],
    ['webfetch', { url: 'https://example.org' }, { name: 'WebFetch', title: 'Fetch https://example.org', kind: 'fetch' }],
    ['webfetch', { url: 5 }, { title: 'Fetch' }],
    ['websearch', { query: 'tea' }, { name: 'WebSearch', title: 'Search the web: tea', kind: 'fetch' }],
    ['codesearch', { query: 'tea' }, { name: 'codesearch', title: 'Search the web: tea', kind: 'search' }],
    ['task', { description: 'Look for tea' }, { name: 'Task', title: 'Look for tea', kind: 'other' }],
    ['task', {}, { title: 'As opencode says' }],
    ['question', {}, { title: 'Ask a question', kind: 'other' }],
    ['plan_exit', {}, { title: 'As opencode says', kind: 'plan' }]
  ]
  for (const [tool, input, step] of steps)
    hasStep(t, { tool, state: { status: 'running', input, title: 'As opencode says' } }, { input, content: [], ...step })
  hasStep(t, { tool: 'own', state: { status: 'running', input: {} } }, { name: 'own', title: 'own' })
  t.end()
})

t.test('a step shows its change and its result, but no content that a change shows already', t => {
  const path = '/a/b'
  const huge = 'x'.repeat(512 * 1024)
  const tooLarge = text('/a/b: too large to show here.')
  const contents: [tool: string, state: object, content: object[]][] = [
    ['edit', { input: { filePath: path, oldString: 'old', newString: 'new' } }, [{ type: 'diff', path, oldText: 'old', newText: 'new' }]],
    ['edit', { input: { filePath: path, newString: 'new' } }, [{ type: 'diff', path, oldText: null, newText: 'new' }]],
    ['edit', { input: { filePath: path, oldString: 'old' } }, []],
    ['edit', { input: { newString: 'new' } }, []],
    ['write', { input: { filePath: path, content: 'new', oldString: 'old' } }, [{ type: 'diff', path, oldText: null, newText: 'new' }]],
    ['write', { input: { filePath: path, content: `${huge}x` } }, [tooLarge]],
    ['edit', { input: { filePath: path, newString: 'other' }, metadata: { diff: unified } }, [changed(path)]],
    ['apply_patch', { metadata: { diff: unified } }, [changed('b')]],
    ['edit', { input: { filePath: path }, metadata: { diff: `@@ -0,0 +1 @@\n+${huge}\n` } }, [tooLarge]],
    ['edit', { input: { filePath: path }, output: 'Edited.' }, []],
    ['write', { input: { filePath: path }, output: 'Written.' }, []],
    ['write', { input: { filePath: path }, error: 'No space.', output: 'Written.' }, [text('No space.')]],
    ['bash', { output: 'done', metadata: { output: 'do' } }, [text('done')]],
    ['bash', { status: 'running', metadata: { output: 'do' } }, [text('do')]],
    ['bash', { metadata: { output: 'do' } }, []],
    ['bash', { output: ' \n' }, []],
    ['bash', { output: 'y'.repeat(64 * 1024 + 1) }, [text(`${'y'.repeat(32 * 1024)}\n… 1 characters left out …\n${'y'.repeat(32 * 1024)}`)]]
  ]
  for (const [tool, state, content] of contents) hasStep(t, { tool, state: { status: 'completed', input: {}, ...state } }, { content })
  t.end()
})

t.test('a request shows the change that it is about, and why it is asked', t => {
  const step = stepOf({ callID: 'c', tool: 'bash', state: { status: 'running', input: { command: 'make' }, metadata: { output: 'do' } } })
  const asked = (about: object) =>
    askedStep(step, { id: 'p', sessionID: 's', permission: 'edit', patterns: [], always: [], metadata: {}, tool: undefined, ...about })
      .content
  t.strictSame(asked({}), [text('do')])
  t.strictSame(asked({ metadata: { diff: unified, filepath: '/a/b' } }), [changed('/a/b')])
  const two = `${unified}--- c\n+++ c\n@@ -1 +1 @@\n-old\n+new\n`
  t.strictSame(asked({ metadata: { diff: `\n${two}`, filepath: '/a/b' } }), [changed('b'), changed('c')], 'each file has its own name')
  t.strictSame(asked({ metadata: { diff: 'no patch' } }), [text('do')])
  t.strictSame(asked({ permission: 'external_directory', patterns: ['/etc/*', '/var/*'] }), [
    text('This reaches outside the folder of the session: /etc/*, /var/*'),
    text('do')
  ])
  t.strictSame(asked({ permission: 'doom_loop' }), [text('It has repeated the same step several times. Should it continue?'), text('do')])
  t.end()
})

t.test('a plan is what can be read of a to-do list', t => {
  const plan = (todos: unknown, tool = 'todowrite') =>
    planOf({
      id: 'p',
      sessionID: 's',
      messageID: 'm',
      type: 'tool',
      callID: 'c',
      tool,
      state: { status: 'completed', input: { todos } }
    } as ToolPart)
  const entry = (status: string, more = {}) => ({ content: 'Tea', status, ...more })
  t.equal(plan([], 'bash'), undefined)
  t.strictSame(plan('none'), [])
  t.strictSame(plan([null, 'Tea', {}, { content: 5 }, entry('in_progress', { priority: 'high' }), entry('pending', { priority: 5 })]), [
    { content: 'Tea', status: 'in_progress', priority: 'high' },
    { content: 'Tea', status: 'pending' }
  ])
  t.strictSame(plan([entry('completed'), entry('cancelled'), entry('unheard of')]), [
    entry('completed'),
    entry('completed'),
    entry('pending')
  ])
  t.end()
})

t.test('a patch is read hunk by hunk; a new file has no text before', t => {
  t.strictSame(diffsOf('--- /dev/null\n+++ b\n@@ -0,0 +1 @@\n+new\n'), [{ type: 'diff', path: 'b', oldText: null, newText: 'new\n' }])
  t.strictSame(diffsOf('--- b\n+++ b\n@@ -1,0 +2 @@\n+new\n@@ -9 +11,0 @@\n-old\n\\ No newline at end of file\n', '/a/b'), [
    { type: 'diff', path: '/a/b', oldText: '', newText: 'new\n' },
    { type: 'diff', path: '/a/b', oldText: 'old', newText: '' }
  ])
  t.strictSame(diffsOf('@@ -1 +1 @@\n-old\n+new\n'), [], 'a change without a file is not shown')
  t.strictSame(diffsOf('@@ -1,2 +1,2 @@\n-old\n', '/a/b'), [], 'a damaged one is not shown')
  t.end()
})

/** The step of a use has these fields, among others. */
function hasStep(t: Test, use: { tool: string; state: object }, step: object) {
  const told = stepOf({ callID: 'c', ...use } as ToolPart)
  t.strictSame(told, { ...told, call: 'c', ...step }, JSON.stringify(use).slice(0, 200))
}
