import t from 'tap'
import { type Asked, commandAsked, riskSubjectOf } from '../../lib/protocol/sealed/decisions/subject.ts'
import { commandOf, directoryOf, kindOf, pathOf, urlOf } from '../../lib/protocol/sealed/decisions/tool-args.ts'

const asked = (more: Partial<Asked>): Asked => ({
  tool: 'tool',
  kind: undefined,
  args: {},
  title: undefined,
  content: [],
  locations: [],
  ...more
})

t.test("a tool's kind is known by its name, however it is spelled", t => {
  const kinds = { Bash: 'execute', run_shell_command: 'execute', 'Web-Fetch': 'fetch', TodoWrite: 'plan', MultiEdit: 'edit', LS: 'search' }
  for (const [name, kind] of Object.entries(kinds)) t.equal(kindOf(name), kind, name)
  t.equal(kindOf('mcp__other'), 'other')
  t.end()
})

t.test('a command is found in the format of any agent, and words are quoted so that they stay words', t => {
  const cases: [args: Record<string, unknown>, command: string | undefined][] = [
    [{ command: 'ls -l', cmd: 'no' }, 'ls -l'],
    [{ cmd: 'ls', script: 'no' }, 'ls'],
    [{ script: 'ls' }, 'ls'],
    [{ command: ['bash', '-lc', 'ls | wc'] }, 'ls | wc'],
    [{ command: ['/bin/sh', '-c', 'ls'] }, 'ls'],
    [{ command: ['/bin/flush', '-c', 'a b'] }, "/bin/flush -c 'a b'"],
    [{ command: ['sh', '-c'] }, 'sh -c'],
    [{ command: ['sh', '-c', 'ls', 'x'] }, 'sh -c ls x'],
    [{ command: ['sh', '-x', 'ls'] }, 'sh -x ls'],
    [{ command: ['echo', "it's", 'a;b', ''] }, `echo 'it'\\''s' 'a;b' ''`],
    [{ command: ['echo', 7] }, undefined],
    [{ command: 7 }, undefined],
    [{}, undefined]
  ]
  for (const [args, command] of cases) t.equal(commandOf(args), command, JSON.stringify(args))
  t.end()
})

t.test('a path, an address and a folder are read only from text', t => {
  t.equal(pathOf({ file: 'last', path: 'p', file_path: 7 }), 'p')
  t.equal(pathOf({ file: 'last' }), 'last')
  t.equal(pathOf({ other: 'x' }), undefined)
  t.equal(urlOf({ url: 'https://a.example' }), 'https://a.example')
  t.equal(urlOf({ url: 7 }), undefined)
  t.equal(directoryOf({ cwd: 7, workdir: '/w', working_directory: '/x' }), '/w')
  t.equal(directoryOf({ working_directory: '/x' }), '/x')
  t.equal(directoryOf({}), undefined)
  t.end()
})

t.test('a command may be the title of a step that runs one', t => {
  t.equal(commandAsked('execute', { args: {}, title: '`rm -r x`' }), 'rm -r x')
  t.equal(commandAsked('execute', { args: {}, title: 'rm `x`' }), 'rm `x`')
  t.equal(commandAsked('execute', { args: { command: 'ls' }, title: 'List' }), 'ls')
  t.equal(commandAsked('execute', { args: {}, title: '' }), undefined)
  t.equal(commandAsked('execute', { args: {}, title: undefined }), undefined)
  t.equal(commandAsked('read', { args: {}, title: 'a title' }), undefined)
  t.equal(commandAsked('read', { args: { command: 'ls' }, title: 'a title' }), 'ls')
  t.end()
})

t.test('risks are judged by each path once, by everything that is sent, and by whether it changes something', t => {
  const diff = { type: 'diff' as const, path: 'd.ts', oldText: 'one\r\ntwo', newText: 'three' }
  const subject = riskSubjectOf(
    asked({
      tool: 'Edit',
      args: { file_path: 'b.ts', cwd: '/w', edits: [{ note: 'deep' }], count: 7, none: null },
      content: [diff as never, { type: 'text', text: 'x', path: 'no.ts' } as never],
      locations: ['a.ts', '/w', 'c.ts', 'd.ts', 'a.ts']
    }),
    { folder: '/f' }
  )
  t.strictSame(subject, {
    command: undefined,
    url: undefined,
    paths: ['d.ts', 'a.ts', 'c.ts', 'b.ts'],
    folder: '/f',
    directory: '/w',
    edited: [],
    isWrite: true,
    text: 'file_path\nb.ts\ncwd\n/w\nedits\n0\nnote\ndeep\ncount\nnone\ntype\ndiff\npath\nd.ts\noldText\none\ntwo\nnewText\nthree\ntype\ntext\ntext\nx\npath\nno.ts'
  })
  for (const [kind, isWrite] of [
    ['edit', true],
    ['delete', true],
    ['move', true],
    ['read', false],
    ['execute', false]
  ] as const)
    t.equal(riskSubjectOf(asked({ tool: 'Edit', kind }), { folder: undefined }).isWrite, isWrite, kind)
  t.strictSame(riskSubjectOf(asked({ args: { url: 'https://a.example' } }), { folder: undefined, edited: ['x'] }), {
    command: undefined,
    url: 'https://a.example',
    paths: [],
    folder: undefined,
    directory: undefined,
    edited: ['x'],
    isWrite: false,
    text: 'url\nhttps://a.example'
  })
  t.end()
})
