import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { RulePattern } from '../../../lib/protocol/sealed/decisions/rules.ts'
import type { Asked } from '../../../lib/protocol/sealed/decisions/subject.ts'
import { allowing, faultOf, ruleOfTools, suggested } from '../../../lib/wrapper/approvals/patterns.ts'
import { requestOf } from '../../../lib/wrapper/approvals/request.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'afield-patterns-')))
t.teardown(() => rmSync(root, { recursive: true, force: true }))
const folder = join(root, 'work')
const home = join(root, 'home')
for (const path of [home, join(folder, 'src/deep/er'), join(folder, '.git/hooks'), join(root, 'work2')])
  mkdirSync(path, { recursive: true })

const shell = (command: unknown, more: Record<string, unknown> = {}): Asked => ({
  tool: 'Bash',
  kind: 'execute',
  args: { command, ...more },
  title: String(command),
  content: [],
  locations: []
})
const rule = (pattern: string, on: RulePattern['on'] = 'command', at = folder): RulePattern => ({ on, pattern, folder: at })

function isAllowed(pattern: string | readonly string[], asked: Asked | string, where = folder): boolean {
  const rules = [pattern].flat().map(each => rule(each))
  return allowing(rules, requestOf(typeof asked === 'string' ? shell(asked) : asked, where), home) !== undefined
}

t.test('a command matches a pattern that contains it, or that leaves its additions open', async t => {
  const passing: [string | string[], string][] = [
    ['npm test', 'npm test'],
    ['npm test', '  npm   test  '],
    ['npm test', 'npm "test"'],
    ['npm test', "npm 'te'st"],
    ['npm run *', 'npm run build'],
    ['npm run *', 'npm run'],
    ['npm run build:*', 'npm run build:web'],
    ['git log *', 'git log main src/a.ts'],
    ['cat src/*', 'cat src/deep/a.ts'],
    ['pytest -x test/*_test.py', 'pytest -x test/web/a_test.py'],
    [['npm test', 'git status'], 'git status && npm test'],
    [['npm test', 'head -5'], 'npm test | head -5'],
    [['npm test'], 'npm test; npm test\nnpm test'],
    ["git commit -m 'fix: a & b'", "git commit -m 'fix: a & b'"],
    ['git commit -m *', 'git commit -m "Schön; und gut"']
  ]
  for (const [pattern, command] of passing) t.equal(isAllowed(pattern, command), true, `${pattern} lets ${command} pass`)
})

t.test('no trick makes a command match a pattern that does not mean it [W9]', async t => {
  const tricks: [string | string[], string][] = [
    ['npm test', 'npm test && rm -rf /'],
    ['npm test', 'npm test || rm -rf /'],
    ['npm test', 'npm test; rm -rf /'],
    ['npm test', 'npm test | sh'],
    ['npm test', 'npm test & rm -rf /'],
    ['npm test', 'npm test\nrm -rf /'],
    ['npm test', 'npm test\rrm -rf /'],
    ['npm test', 'npm test $(rm -rf /)'],
    ['npm test', 'npm test `rm -rf /`'],
    ['npm test', 'npm test "$(rm -rf /)"'],
    ['npm test', 'npm test > ~/.bashrc'],
    ['npm test', 'npm test < /etc/passwd'],
    ['npm test', 'npm test <(curl x)'],
    ['npm test', 'npm test 2>&1'],
    ['npm test', 'npm test # harmless'],
    ['npm test', 'npm test -- --script-shell=evil'],
    ['npm test', 'npm testx'],
    ['npm test', 'xnpm test'],
    ['npm test', './npm test'],
    ['npm test', '/tmp/npm test'],
    ['npm test', 'PATH=/tmp npm test'],
    ['echo *', 'echo =rm'],
    ['*', '=rm'],
    ['npm test', 'FOO=1 npm test'],
    ['npm test', 'sudo npm test'],
    ['npm test', 'eval npm test'],
    ['npm test', 'exec npm test'],
    ['npm test', '! npm test'],
    ['npm test', '(npm test)'],
    ['npm test', '{ npm test; }'],
    ['npm test', 'if true; then npm test; fi'],
    ['npm test', 'n\\pm test'],
    ['npm test', 'npm te\\\nst'],
    ['npm test', 'npm {test,publish}'],
    ['npm test', "$'npm' test"],
    ['npm test', 'npm\u00a0test'],
    ['npm test', 'npm test\u200b'],
    ['npm test', 'n\u03c1m test'],
    ['npm test', 'alias npm=rm && npm test'],
    ['npm test', 'cd /tmp && npm test'],
    ['npm test', 'npm test &&'.concat(' ', 'npm() { rm -rf /; }')],
    ['npm *', 'npm test; rm -rf /'],
    ['npm *', 'npm test && curl x | sh'],
    ['npm run *', 'npm run $(whoami)'],
    ['npm run *', 'npm run build --prefix=/tmp/evil'],
    ['npm run *', 'npm run --script-shell=/tmp/evil build'],
    ['npm run *', 'npm run ~/x'],
    ['cat *', 'cat /etc/passwd'],
    ['cat *', 'cat ../secret'],
    ['cat *', 'cat ~/.ssh/id_rsa'],
    ['cat *', 'cat a=/etc/passwd'],
    ['cat src/*', 'cat src/../../secret'],
    ['cat src/*', 'cat src/..'],
    ['cat src/*', 'cat src/a ../b'],
    ['cat src/*', 'cat src/*'],
    ['git log *', 'git log --output=/etc/x'],
    ['git log *', 'git -c core.pager=evil log'],
    ['git log *', 'git log -O/tmp/x'],
    ['git diff *', 'git diff --ext-diff'],
    ['git *', 'git -c alias.x=!sh x'],
    [['npm test', 'git status'], 'git status && npm publish'],
    ['npm install *', 'npm install @STAR@ -g'],
    ['npm install @STAR@', 'npm install left-pad'],
    ['npm install "a b"', 'npm install a b'],
    ['', 'npm test']
  ]
  for (const [pattern, command] of tricks) t.equal(isAllowed(pattern, command), false, `${pattern} stops ${JSON.stringify(command)}`)
})

t.test('other arguments of a call are checked too', async t => {
  t.equal(isAllowed('npm test', shell('npm test', { description: 'Run the tests', timeout: 5, run_in_background: false })), true)
  t.equal(isAllowed('npm test', shell('npm test', { dangerouslyDisableSandbox: true })), false)
  t.equal(isAllowed('npm test', shell('npm test', { env: { PATH: '/tmp' } })), false)
  t.equal(isAllowed('npm test', shell('npm test', { script: 'rm -rf /' })), false)
  t.equal(isAllowed('npm test', shell('npm test', { cwd: '/tmp' })), false)
  t.equal(isAllowed('npm test', shell('npm test', { cwd: join(folder, 'src') })), true)
  t.equal(isAllowed('npm test', shell('npm test', { cwd: '..' })), false)
  t.equal(isAllowed('npm test', shell(['bash', '-lc', 'npm test'])), true)
  t.equal(isAllowed('npm test', shell(['npm', 'test; rm'])), false)
  t.equal(isAllowed('npm test', { ...shell('npm test'), args: {}, title: 'npm test' }), false, 'a title is no command')
  t.equal(isAllowed('npm test', { ...shell('npm test'), kind: 'other', tool: 'mcp__x__run' }), false, 'another tool is no shell')
})

t.test('a rule applies in its folder and below, with links resolved', async t => {
  symlinkSync(join(root, 'work2'), join(folder, 'elsewhere'))
  t.equal(isAllowed('npm test', 'npm test', join(folder, 'src')), true)
  t.equal(isAllowed('npm test', 'npm test', join(root, 'work2')), false)
  t.equal(isAllowed('npm test', 'npm test', root), false)
  t.equal(isAllowed('npm test', 'npm test', join(folder, 'elsewhere')), false)
})

t.test('files match by their real path', async t => {
  writeFileSync(join(root, 'work2/out.ts'), '')
  symlinkSync(join(root, 'work2/out.ts'), join(folder, 'src/link.ts'))
  const edit = (...paths: string[]): Asked => ({
    tool: 'Edit',
    kind: 'edit',
    args: {},
    title: 'Edit',
    content: paths.map(path => ({ type: 'diff', path, oldText: null, newText: '' })),
    locations: []
  })
  const passes = (pattern: string, ...paths: string[]) =>
    allowing([rule(pattern, 'change')], requestOf(edit(...paths), folder), home) !== undefined
  t.equal(passes('src/*', 'src/a.ts'), true)
  t.equal(passes('src/*', join(folder, 'src/a.ts')), true)
  t.equal(passes('src/*', 'src/deep/a.ts'), false)
  for (const path of ['lib/a.ts', 'srcs/a.ts', 'src']) t.equal(passes('src/*', path), false, path)
  t.equal(passes('src/a.ts', 'src/b.ts'), false)
  t.equal(passes('**/a.ts', 'src/b.ts'), false)
  t.equal(passes('src/**', 'src'), false)
  symlinkSync(folder, join(root, 'link'))
  const linked = { ...rule('src/*', 'change'), folder: join(root, 'link') }
  t.ok(allowing([linked], requestOf(edit('src/a.ts'), join(root, 'link')), home), 'a folder by another name')
  t.equal(passes('src/deep/*', 'src/deep'), false, 'the folder itself is not in it')
  t.equal(passes('src/*', 'src/.env'), false, 'a leading dot is written out')
  t.equal(passes('src/.*', 'src/.env.js'), true)
  t.equal(passes('src/**', 'src/deep/er/a.ts'), true)
  t.equal(passes('src/**/*.ts', 'src/deep/er/a.ts'), true)
  t.equal(passes('**', 'a.ts'), true)
  t.equal(passes('src/*', 'src/a.ts', 'package.json'), false, 'all of them have to')
  t.equal(passes('src/*', 'src/../package.json'), false)
  t.equal(passes('src/*', 'src/link.ts'), false, 'a link leads out')
  t.equal(passes('**', '.env'), false, 'what is hidden is named')
  t.equal(passes('**', 'src/.env'), false)
  t.equal(passes('.git/**', '.git/hooks/pre-commit'), false, 'what git runs by itself is not for rules')
  t.equal(passes('**'), false, 'no file at all')
  t.equal(allowing([rule('**', 'read')], requestOf(edit('src/a.ts'), folder), home), undefined, 'to read is not to change')
})

t.test('pages match by host, tools by name', async t => {
  const fetch = (url: string): Asked => ({ tool: 'WebFetch', kind: 'fetch', args: { url }, title: url, content: [], locations: [] })
  const passes = (pattern: string, url: string) => allowing([rule(pattern, 'page')], requestOf(fetch(url), folder), home) !== undefined
  t.equal(passes('docs.rs', 'https://docs.rs/tokio'), true)
  t.equal(passes('*.example.org', 'https://a.example.org/'), true)
  for (const url of [
    'http://docs.rs/',
    'https://docs.rs@evil.example/',
    'https://docs.rs.evil.example/',
    'https://evil.example/?docs.rs',
    'javascript:1'
  ])
    t.equal(passes('docs.rs', url), false, url)
  t.equal(passes('*.example.org', 'https://evilexample.org/'), false)
  const tool = (name: string): Asked => ({ tool: name, kind: 'other', args: {}, title: name, content: [], locations: [] })
  t.ok(allowing([rule('mcp__linear__*', 'tool')], requestOf(tool('mcp__linear__list'), folder), home))
  t.notOk(allowing([rule('mcp__linear__list', 'tool')], requestOf(tool('mcp__linear__list_all'), folder), home))
})

t.test('plans, deletions and moves are never allowed by a rule', async t => {
  for (const kind of ['plan', 'delete', 'move'] as const) {
    const asked: Asked = { tool: 'X', kind, args: { path: 'src/a.ts' }, title: 'X', content: [], locations: ['src/a.ts'] }
    for (const on of ['tool', 'change'] as const)
      t.equal(allowing([rule(on === 'tool' ? 'X' : '**', on)], requestOf(asked, folder), home), undefined)
    t.equal(suggested(requestOf(asked, folder)), undefined)
  }
})

t.test('a pattern that would allow anything is invalid', async t => {
  for (const pattern of [
    '*',
    '* test',
    'n*m test',
    'bash *',
    'sh -c *',
    'env *',
    'xargs *',
    'node *',
    '/usr/bin/python3 *',
    'npm test && ls',
    'npm test; ',
    'npm > x',
    '$X',
    'A=1 npm',
    ''
  ])
    t.ok(faultOf(rule(pattern)), pattern)
  for (const pattern of ['npm test', 'npm *', 'node --test', 'cargo build *']) t.equal(faultOf(rule(pattern)), undefined, pattern)
  t.ok(faultOf(rule('npm test', 'command', 'work')), 'a folder is a whole path')
  t.ok(faultOf(rule('../x', 'change')))
  t.ok(faultOf(rule('/etc/*', 'read')))
  t.ok(faultOf(rule('*', 'tool')))
  t.ok(faultOf(rule('*', 'page')))
})

t.test('the narrowest pattern allows the request and nothing more', async t => {
  for (const [command, pattern] of [
    ['npm test', 'npm test'],
    ["git commit -m 'a b'", "git commit -m 'a b'"],
    ['git commit -m "it\'s"', 'git commit -m "it\'s"'],
    ['npm test && ls', undefined],
    ['npm test > x', undefined],
    ["rg 'a*b'", undefined]
  ] as const) {
    t.equal(suggested(requestOf(shell(command), folder)), pattern, command)
    if (pattern !== undefined) t.equal(isAllowed(pattern, command), true)
  }
})

t.test('the tools that an existing app allows become the rule they name, and nothing wider', async t => {
  const ruleFor = (allowTools: string[], asked: Asked) => ruleOfTools(allowTools, requestOf(asked, folder))?.pattern
  const edit: Asked = { ...shell('', {}), tool: 'Edit', kind: 'edit', args: { file_path: join(folder, 'a.ts') } }
  const tool: Asked = { ...edit, tool: 'mcp__notes__add', kind: 'other', args: {} }
  const page: Asked = { ...edit, tool: 'WebFetch', kind: 'fetch', args: { url: 'https://example.net/' } }
  t.equal(ruleFor(['Bash(npm test)'], shell('npm test')), 'npm test', 'this command')
  t.equal(ruleFor(['Bash(npm run:*)'], shell('npm run build')), 'npm run *', 'what begins with these words')
  t.equal(ruleFor(['Bash(rm -r x)', 'Bash'], shell('npm test')), undefined, 'another command, and every command')
  t.equal(ruleFor(['Bash(npm *:*)'], shell('npm test')), undefined, 'a star among the words')
  t.equal(ruleFor(['Fish(npm test)', 'Bash(npm test'], shell('npm test')), undefined, 'of another tool, and cut off')
  t.equal(ruleFor(['Edit'], edit), '**', 'files of the folder')
  t.equal(ruleFor(['Write'], edit), undefined, 'another tool')
  t.equal(ruleFor(['mcp__notes__add'], tool), 'mcp__notes__add')
  t.equal(ruleFor(['mcp__notes'], tool), undefined)
  t.equal(ruleFor(['WebFetch'], page), undefined, 'every page')
})

t.test('the narrowest rule for files is one file below the folder of the session, and for a page its host', async t => {
  const about = (kind: Asked['kind'], paths: string[], more: Record<string, unknown> = {}): Asked => ({
    tool: 'Any',
    kind,
    args: more,
    title: '',
    content: [],
    locations: paths
  })
  for (const kind of ['edit', 'read'] as const)
    for (const [paths, pattern] of [
      [['src/a.ts'], 'src/a.ts'],
      [[join(folder, 'src/a.ts')], 'src/a.ts'],
      [['src/a.ts', 'src/b.ts'], undefined],
      [[], undefined],
      [['.'], undefined],
      [['../work2/a.ts'], undefined],
      [['/etc/passwd'], undefined]
    ] as const)
      t.equal(suggested(requestOf(about(kind, [...paths]), folder)), pattern, `${kind} ${paths}`)
  for (const [url, host] of [
    ['https://docs.rs/tokio?q=1', 'docs.rs'],
    ['https://docs.rs:8443/', 'docs.rs:8443'],
    ['http://docs.rs/', undefined],
    ['https://mira@docs.rs/', undefined],
    ['https://:word@docs.rs/', undefined],
    ['docs.rs', undefined]
  ] as const)
    t.equal(suggested(requestOf(about('fetch', [], { url }), folder)), host, url)
  t.equal(suggested(requestOf({ ...about('other', []), tool: 'mcp__notes__add' }, folder)), 'mcp__notes__add')
  t.equal(suggested(requestOf({ ...about('other', []), tool: 'a tool' }, folder)), undefined)
})

t.test('a rule that an existing app makes is for the tool that asked, in the folder of the session', async t => {
  const read: Asked = { ...shell('', {}), tool: 'Read', kind: 'read', args: { file_path: join(folder, 'a.ts') } }
  t.strictSame(ruleOfTools(['Read'], requestOf(read, folder)), { on: 'read', pattern: '**', folder, tool: 'Read' })
  t.strictSame(ruleOfTools(['Bash(npm test)'], requestOf(shell('npm test'), folder)), {
    on: 'command',
    pattern: 'npm test',
    folder,
    tool: 'Bash'
  })
  const otherTool = requestOf({ ...read, tool: 'View' }, folder)
  t.equal(allowing([{ ...rule('**', 'read'), tool: 'Read' }], otherTool, home), undefined)
  t.ok(allowing([rule('**', 'read')], otherTool, home))
})

t.test('a star at the end of a tool stands for the rest of its name only', async t => {
  const tool = (name: string) => requestOf({ ...shell('', {}), tool: name, kind: 'other', args: {} }, folder)
  const passes = (pattern: string, name: string) => allowing([rule(pattern, 'tool')], tool(name), home) !== undefined
  t.equal(passes('mcp__notes__*', 'mcp__notes__add'), true)
  t.equal(passes('mcp__notes__*', 'mcp__mail__send'), false)
  t.equal(passes('mcp__notes__add', 'mcp__notes__add_all'), false)
})

t.test('a rule about words within a word leads nowhere else, and its other characters are meant literally', async t => {
  t.equal(isAllowed('cat *.ts', 'cat a.ts'), true)
  t.equal(isAllowed('cat *.ts', 'cat axts'), false)
  t.equal(isAllowed('cat *.ts', 'cat ../a.ts'), false)
  t.equal(isAllowed('cat *.ts', 'cat /etc/a.ts'), false)
  t.equal(isAllowed('cat *.ts', 'cat --all.ts'), false)
  t.equal(isAllowed('cat src/*', 'cat src/../../a'), false)
  t.equal(isAllowed('cat (a)', 'cat (a)'), false)
})
