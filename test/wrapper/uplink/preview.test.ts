import t from 'tap'
import type { PermissionRequest } from '../../../lib/protocol/sealed/session.ts'
import { previewOf } from '../../../lib/wrapper/uplink/preview.ts'

const metadata = { path: '/home/ada/orchard', host: 'desk' }
const plain: PermissionRequest = {
  tool: 'Bash',
  kind: 'execute',
  arguments: { command: 'git status', description: 'See what changed' },
  title: 'git status',
  createdAt: 1,
  shown: 'hash',
  choices: [
    { id: 'y', label: 'Yes', kind: 'allow_once' },
    { id: 'n', label: 'No', kind: 'reject_once' }
  ],
  risk: { level: 'plain', reasons: [], knowsEdits: true }
}
const asks = (request: PermissionRequest) => previewOf({ metadata }, { ask: 'a', request }).asks

t.test('a session has the title that its person gave it', t => {
  t.equal(previewOf({ metadata: { ...metadata, name: 'Trees', summary: { text: 'Plant\n pears', updatedAt: 1 } } }).title, 'Plant pears')
  t.equal(previewOf({ metadata, firstPrompt: 'Plant some pears' }).title, 'Plant some pears')
  t.equal(previewOf({ metadata, firstPrompt: '/compact' }).title, 'orchard')
  t.equal(previewOf({ metadata }, { ask: 'a', request: plain }).title, 'orchard')
  t.end()
})

t.test('a plain command that is the only request may be allowed with nothing else visible', t => {
  t.same(asks(plain), {
    ...{ id: 'a', shown: 'hash', type: 'permission', kind: 'execute', text: 'git status', isWhole: true, risk: 'plain', mayAllow: true }
  })
  t.end()
})

const { risk: _, ...unjudged } = plain
const others: [string, PermissionRequest][] = [
  ['a risky one', { ...plain, risk: { level: 'risky', reasons: [], knowsEdits: true } }],
  ['one that was judged without knowing what changed', { ...plain, risk: { level: 'plain', reasons: [] } }],
  ['one that nobody judged', unjudged],
  ['one in another folder', { ...plain, arguments: { command: 'git status', cwd: '/etc' } }],
  ['one with more arguments', { ...plain, arguments: { command: 'git status', run_in_background: true } }],
  ['one that names files', { ...plain, locations: ['/etc/passwd'] }],
  ['one with a change beside it', { ...plain, content: [{ type: 'diff', path: 'a', oldText: null, newText: 'x' }] }],
  ['one with a text beside it', { ...plain, content: [{ type: 'text', text: 'and then some' }] }],
  ['one of two lines', { ...plain, arguments: { command: 'git status\nrm a' } }],
  ['a long one', { ...plain, arguments: { command: `echo ${'x'.repeat(120)}` } }],
  ['one with hidden letters', { ...plain, arguments: { command: 'git\u202e status' } }],
  [
    'one with several ways to say yes',
    { ...plain, choices: [...(plain.choices ?? []), { id: 'z', label: 'Yes, so', kind: 'allow_once' }] }
  ],
  ['one that nobody can bind an answer to', { ...plain, shown: undefined }],
  ['a change of a file', { ...plain, tool: 'Write', kind: 'edit', arguments: { path: 'a.txt' }, title: 'Write a.txt' }]
]
for (const [name, request] of others) {
  t.test(`${name} must be opened to decide`, t => {
    t.match(asks(request), { type: 'permission', mayAllow: false })
    t.end()
  })
}

t.test('a command of the longest length, with nothing said beside it, may be allowed', t => {
  const command = `echo ${'x'.repeat(115)}`
  const content = [
    { type: 'text' as const, text: '' },
    { type: 'text' as const, text: command }
  ]
  t.match(asks({ ...plain, arguments: { command, cwd: '', timeout: null }, content }), { mayAllow: true, isWhole: true })
  t.end()
})

t.test('a request that says little is shown by its tool, and as a risk', t => {
  const little = { tool: 'Bash', arguments: null, createdAt: 1 }
  t.strictSame(asks(little), { id: 'a', type: 'permission', kind: 'execute', text: 'Bash', isWhole: false, risk: 'risky', mayAllow: false })
  t.match(asks({ ...little, arguments: 'ab' }), { type: 'permission', text: 'Bash', isWhole: false })
  const { choices } = plain
  t.match(asks({ ...little, tool: 'AskUserQuestion', ...(choices && { choices }) }), { type: 'permission' }, 'it has choices of its own')
  t.end()
})

t.test('a request for a file is described by its path, once', t => {
  const read = { ...plain, tool: 'Read', kind: 'read' as const, arguments: { path: 'src/b.ts' }, locations: ['src/a.ts', 'src/b.ts'] }
  t.match(asks(read), { text: 'src/a.ts\nsrc/b.ts' })
  t.end()
})

t.test('a change is described by its files', t => {
  const content = [{ type: 'diff' as const, path: 'src/a.ts', oldText: null, newText: 'x' }]
  t.match(asks({ ...plain, tool: 'Write', kind: 'edit', arguments: {}, content }), { kind: 'edit', text: 'src/a.ts', isWhole: false })
  t.end()
})

t.test('a question answered by text says so, others must be opened', t => {
  const question = { id: 'q', question: 'Which tree?', multiSelect: false, options: [], allowsOther: true, isRequired: true }
  const asked = (questions: object[]): PermissionRequest => ({
    ...{ tool: 'AskUserQuestion', arguments: {}, createdAt: 1, shown: 'hash' },
    form: { questions: questions as (typeof question)[] }
  })
  t.same(asks(asked([question])), { id: 'a', shown: 'hash', type: 'question', text: 'Which tree?', reply: 'q' })
  t.same(asks(asked([{ ...question, allowsOther: false }])), { id: 'a', shown: 'hash', type: 'question', text: 'Which tree?', reply: 'q' })
  const picked = { ...question, allowsOther: false, options: [{ label: 'Pear', description: '' }] }
  t.same(asks(asked([picked])), { id: 'a', shown: 'hash', type: 'question', text: 'Which tree?' })
  t.same(asks(asked([question, question])), { id: 'a', shown: 'hash', type: 'question', text: 'Which tree?' })
  t.same(asks(asked([{ ...question, number: { isWhole: true } }])), { id: 'a', shown: 'hash', type: 'question', text: 'Which tree?' })
  const bare = { tool: 'AskUserQuestion', arguments: 'unreadable', title: 'Asks\nyou', createdAt: 1 }
  t.match(asks({ ...bare, title: undefined }), { type: 'question', text: '' })
  t.strictSame(
    asks(bare),
    { id: 'a', type: 'question', text: 'Asks you' },
    'a question that cannot be read, and that no answer can be bound to'
  )
  t.end()
})
