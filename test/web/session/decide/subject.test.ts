import t from 'tap'
import type { StepContent } from '../../../../lib/protocol/sealed/messages.ts'
import type { OpenRequest } from '../../../../web/model/decisions/decisions.ts'
import { subjectOf } from '../../../../web/session/decide/subject.ts'

const folder = '/work/pears'
const ask = (more: Partial<OpenRequest> = {}, edited?: readonly string[]) =>
  subjectOf({ id: 'p1', tool: 'Tool', arguments: {}, createdAt: 1, ...more }, folder, edited)
const diff = (path: string, oldText: string | null = 'a', newText = 'b') => ({ type: 'diff' as const, path, oldText, newText })
const edit = (content: StepContent[], more: Partial<OpenRequest> = {}) => ask({ tool: 'Edit', kind: 'edit', content, ...more })

const names: readonly [what: string, subject: ReturnType<typeof ask>, question: string, heading: string, confirm: string][] = [
  [
    'a command',
    ask({ kind: 'execute', arguments: { command: 'npm  run\n build' } }),
    'Run this command?',
    'Run a command',
    'run npm run build'
  ],
  ['an edit', edit([diff('/work/pears/a.ts')]), 'Edit a.ts?', 'Edit a.ts', 'edit a.ts'],
  ['an edit of a new and an old file as one', edit([diff('/a/a.ts', null), diff('/a/a.ts')]), 'Edit a.ts?', 'Edit a.ts', 'edit a.ts'],
  ['a new file', edit([diff('/work/pears/a.ts', null)]), 'Write a.ts?', 'Write a.ts', 'write a.ts'],
  ['two files', edit([diff('/a/a.ts'), diff('/a/b.ts')]), 'Edit 2 files?', 'Edit 2 files', 'edit 2 files'],
  [
    'a file with and one without its change',
    edit([diff('/a/a.ts')], { locations: ['/a/b.ts'] }),
    'Edit 2 files?',
    'Edit 2 files',
    'edit 2 files'
  ],
  ['an edit without its changes', ask({ kind: 'edit', locations: ['/a/a.ts'] }), 'Edit a.ts?', 'Edit a.ts', 'edit a.ts'],
  ['an edit of nothing known', ask({ kind: 'edit', title: 'Patch' }), 'Edit Patch?', 'Edit Patch', 'edit Patch'],
  ['an edit without a path', edit([diff('')]), 'Edit Edit?', 'Edit Edit', 'edit Edit'],
  ['a deletion', ask({ kind: 'delete', locations: ['/a/a.ts'] }), 'Delete a.ts?', 'Delete a.ts', 'delete a.ts'],
  ['a move', ask({ kind: 'move', locations: ['/a/a.ts'] }), 'Move a.ts?', 'Move a.ts', 'move a.ts'],
  [
    'a read',
    ask({ kind: 'read', arguments: { file_path: '/a/b\u202e.ts' } }),
    'Read b\\u{202e}.ts?',
    'Read b\\u{202e}.ts',
    'read b\\u{202e}.ts'
  ],
  [
    'a page',
    ask({ kind: 'fetch', arguments: { url: 'https://x.example:8/a' } }),
    'Fetch from x.example:8?',
    'Fetch a page',
    'fetch from x.example:8'
  ],
  ['a page of no address', ask({ kind: 'fetch', arguments: { url: 'nowhere' } }), 'Fetch from Tool?', 'Fetch a page', 'fetch from Tool'],
  ['a search of the web', ask({ kind: 'fetch' }), 'Fetch from Tool?', 'Fetch a page', 'fetch from Tool'],
  ['a search', ask({ kind: 'search' }), 'Search here?', 'Search here', 'search here'],
  ['a plan', ask({ kind: 'plan' }), 'Go ahead with this?', 'A plan to review', 'go ahead with this'],
  ['another tool', ask({ kind: 'other', title: 'My\u200btool' }), 'Use My\\u{200b}tool?', 'Use My\\u{200b}tool', 'use My\\u{200b}tool'],
  ['a thought', ask({ kind: 'think' }), 'Use Tool?', 'Use Tool', 'use Tool'],
  ['a command that is not known', ask({ kind: 'execute' }), 'Use Tool?', 'Use Tool', 'use Tool'],
  ['a tool that is known by its name only', ask({ tool: 'Grep' }), 'Search here?', 'Search here', 'search here']
]

t.test('a permission asks what it is about, in a list and again before it is given', async t => {
  for (const [what, { question, heading, confirm }, ...expected] of names)
    t.strictSame([question, heading, confirm.replace(/^Confirm: (.*) once$/, '$1')], expected, what)
})

t.test('the second tap names what it allows in one short line', async t => {
  const confirm = (command: string) => ask({ kind: 'execute', arguments: { command } }).confirm
  t.equal(confirm('x'.repeat(48)), `Confirm: run ${'x'.repeat(48)} once`)
  t.equal(confirm('x'.repeat(49)), `Confirm: run ${'x'.repeat(47)}… once`)
  t.equal(confirm(`  ${'x'.repeat(45)} yzzz`), `Confirm: run ${'x'.repeat(45)} y… once`)
  t.equal(confirm(`${'x'.repeat(46)} yzzz`), `Confirm: run ${'x'.repeat(46)}… once`)
})

t.test('a permission shows its changes, and the files without one, each once', async t => {
  const content = [diff('/a/a.ts')]
  const { diffs, paths } = edit(content, { locations: ['/a/a.ts', '/a/b.ts', '/a/b.ts'], arguments: { file_path: '/a/c.ts' } })
  t.same(diffs, content)
  t.same(paths, ['/a/b.ts', '/a/c.ts'])
  t.same(ask({ kind: 'execute', arguments: { command: 'ls', path: '/srv', cwd: '/srv' } }).paths, [], 'where it runs is no file of it')
  const args = { file_path: '/a/a.ts', old_string: 'x', new_string: 'y' }
  const said: StepContent = { type: 'text', text: 'Why' }
  t.match(ask({ tool: 'Edit', arguments: args, content: [said] }), { diffs: [diff('/a/a.ts', 'x', 'y')], text: 'Why' })
  t.match(ask({ tool: 'Edit', arguments: args, content }), { diffs: { length: 1, 0: content[0] } }, 'those that were sent count')
})

t.test('a plan is its own text, or the remarks sent with it', async t => {
  t.equal(ask({ kind: 'plan', arguments: { plan: '# Prune' } }).text, '# Prune')
  t.equal(ask({ kind: 'plan', content: [{ type: 'text', text: 'Rake' }] }).text, 'Rake')
  t.equal(ask({ kind: 'other', arguments: { plan: '# Prune' } }).text, '')
})

t.test('a remark that only repeats the command is left out', async t => {
  const command = 'npm test'
  const text = (text: string) => ask({ kind: 'execute', arguments: { command }, content: [{ type: 'text', text }] }).text
  t.strictSame([text(command), text('It tests')], ['', 'It tests'])
})

t.test('the reason of the agent is shown whichever name it has, if it says something', async t => {
  const reason = (args: object) => ask({ arguments: args }).reason
  t.equal(reason({ description: 'a', justification: 'b', reason: 'c' }), 'a')
  t.equal(reason({ justification: 'b', reason: 'c' }), 'b')
  t.equal(reason({ reason: 'c' }), 'c')
  for (const none of [{}, { reason: ' ' }, { reason: 7 }]) t.equal(reason(none), undefined)
})

t.test('the directory is shown if it is not the folder of the session', async t => {
  const directory = (cwd: string) => ask({ kind: 'execute', arguments: { command: 'ls', cwd } }).directory
  t.strictSame([directory('/srv'), directory(folder)], ['/srv', undefined])
})

t.test('every argument is shown that is not shown elsewhere', async t => {
  const fields = (args: unknown, more: Partial<OpenRequest> = {}) => ask({ arguments: args, ...more }).fields
  t.strictSame(fields({ a: 1, b: 0, c: '', d: null, e: false, f: undefined, g: true, h: [] }), { a: 1, b: 0, g: true, h: [] })
  for (const none of ['text', null, undefined, 7]) t.strictSame(fields(none), {})
  const run = { kind: 'execute' } as const
  t.strictSame(fields({ command: ['bash', '-lc', 'ls'], cwd: '/srv', description: 'Look', timeout: 5 }, run), { timeout: 5 })
  t.strictSame(fields({ command: null, cmd: ['ls', '-l'], script: 'rm x' }, run), { script: 'rm x' }, 'only one of them is the command')
  t.strictSame(fields({ command: 'ls', again: 'ls', cmd: 'rm x' }, run), { cmd: 'rm x' })
  t.strictSame(fields({ command: { program: 'rm' } }, { ...run, title: 'ls' }), { command: { program: 'rm' } }, 'the title is the command')
  t.strictSame(fields({ script: 7 }, { kind: 'other' }), { script: 7 })
  t.strictSame(fields({ url: 'https://x.example', prompt: 'What?' }, { kind: 'fetch' }), { prompt: 'What?' })
  t.strictSame(fields({ plan: '# Prune', other: 'x' }, { kind: 'plan' }), { other: 'x' })
  const args = { file_path: '/a/a.ts', old_string: 'x', new_string: 'y', replace_all: true }
  t.strictSame(fields(args, { tool: 'Edit' }), { replace_all: true })
  t.strictSame(fields({ edits: 7, changes: 7, content: 7, diff: 7, patch: 7, more: 7 }, { content: [diff('/a/a.ts')] }), { more: 7 })
  t.strictSame(fields({ edits: 7, patch: 7 }), { edits: 7, patch: 7 })
})

t.test('an argument is left out if the shown changes say all that it says', async t => {
  const content = [diff('/a/a.ts', null, 'b'), diff('/a/b.ts', 'a', 'b')]
  const fields = (value: unknown) => edit(content, { arguments: { value } }).fields
  const one = { type: 'diff', path: '/a/a.ts', newText: 'b' }
  for (const shown of [one, { ...one, oldText: null }, content, [[one]]]) t.strictSame(fields(shown), {}, JSON.stringify(shown))
  const others = [[], [...content, 'x'], [null], { ...one, oldText: 'a' }, { ...one, path: '/a/c.ts' }, { ...one, newText: 'c' }]
  for (const other of [...others, { ...one, more: 1 }, { ...one, type: 'text' }, 7])
    t.strictSame(fields(other), { value: other }, JSON.stringify(other))
})

t.test('the higher risk counts, with the reasons for it first', async t => {
  const run = (command: string, level?: 'plain' | 'careful' | 'risky', reasons: string[] = []) =>
    ask({ kind: 'execute', arguments: { command }, ...(level && { risk: { level, reasons } }) }).risk
  const own = run('rm -rf /srv')
  t.equal(own.level, 'risky')
  t.same(run('rm -rf /srv', 'plain', ['network', 'of tomorrow']), { ...own, reasons: [...own.reasons, 'network'] })
  t.match(run('ls', 'risky', ['network', 'runs-edited']), { level: 'risky', reasons: ['network', 'runs-edited'] })
  t.same(run('rm -rf /srv', 'risky', [...own.reasons]), own, 'each once')
  const careful = run('npm install left-pad')
  t.equal(careful.level, 'careful')
  t.same(run('npm install left-pad', 'risky', ['runs-edited']).reasons, ['runs-edited', ...careful.reasons])
})

t.test('a command that runs a file which this agent changed is risky', async t => {
  const run = (edited?: readonly string[]) => ask({ kind: 'execute', arguments: { command: './build.sh' } }, edited).risk
  t.ok(run([`${folder}/build.sh`]).reasons.includes('runs-edited'))
  t.notOk(run([]).reasons.includes('runs-edited'))
  t.notOk(run().reasons.includes('runs-edited'))
})
