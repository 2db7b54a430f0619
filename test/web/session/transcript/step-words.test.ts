import t from 'tap'
import { insidePath, placeOf, resultOf, stepWordsOf } from '../../../../web/session/transcript/step-words.ts'

t.test("a file in the session's folder can be opened there, and no other", async t => {
  t.same(placeOf('/orchard/src/a b.ts', '/orchard'), ['src', 'a b.ts'])
  t.same(placeOf('src/a.ts', '/orchard'), ['src', 'a.ts'])
  t.same(placeOf('C:\\orchard\\src\\a.ts', 'C:\\orchard'), ['src', 'a.ts'])
  for (const path of ['/orchard', '/orchards/a.ts', '/etc/passwd', '../a.ts', '/orchard/../a.ts', '~/a.ts', 'C:\\a.ts', ''])
    t.equal(placeOf(path, '/orchard'), undefined, path)
  t.equal(placeOf('/orchard/a.ts', undefined), undefined)
  t.equal(insidePath('C:\\orchard\\a.ts', 'C:\\orchard'), 'a.ts')
})

t.test('the row of a step names what it is about, and the whole of it when that is longer', async t => {
  const call = { kind: 'other', name: 'Tool', title: '', description: '', args: {}, locations: [], content: [] } as const
  const made = (path: string) => ({ type: 'diff' as const, path, oldText: null, newText: 'a' })
  const cases: [given: Partial<Parameters<typeof stepWordsOf>[0]>, object: string, whole?: string][] = [
    [{ kind: 'execute', args: { command: 'npm test\nnpm run build' } }, 'npm test', 'npm test\nnpm run build'],
    [{ kind: 'execute', title: '`git status`' }, 'git status'],
    [{ kind: 'execute' }, 'Tool'],
    [{ kind: 'search', args: { pattern: 'todo' } }, 'todo'],
    [{ kind: 'search', locations: ['/orchard/src'] }, 'src', '/orchard/src'],
    [{ kind: 'fetch', args: { url: 'https://home.example:8443/a' } }, 'home.example:8443', 'https://home.example:8443/a'],
    [{ kind: 'fetch', args: { url: 'home' } }, 'home'],
    [{ kind: 'fetch', args: { query: 'esbuild' } }, 'esbuild'],
    [{ kind: 'fetch', title: 'A page' }, 'A page'],
    [{ kind: 'read', args: { file_path: '/orchard/a/b/c.ts' } }, 'a/b/c.ts', '/orchard/a/b/c.ts'],
    [{ kind: 'read', args: { file_path: '/orchard/a/b/c/d.ts' } }, '…/b/c/d.ts', '/orchard/a/b/c/d.ts'],
    [{ kind: 'edit', content: [made('/orchard/a.ts')], locations: ['/orchard/a.ts', ''] }, 'a.ts', '/orchard/a.ts'],
    [{ kind: 'edit', content: [made('a.ts')], locations: ['b.ts'] }, '2 files', 'a.ts\nb.ts'],
    [{ kind: 'delete', title: 'Remove it' }, 'Remove it'],
    [{ kind: 'move' }, 'Tool'],
    [{ kind: 'agent', title: 'Look around', description: 'Explore' }, 'Look around'],
    [{ kind: 'agent', description: 'Explore' }, 'Explore'],
    [{ kind: 'think', title: 'A thought' }, 'A thought'],
    [{ name: 'mcp__docs__search', title: 'mcp__docs__search' }, 'docs: search'],
    [{}, 'Tool']
  ]
  for (const [given, object, whole = object] of cases)
    t.match(stepWordsOf({ ...call, ...given }, 'done', '/orchard'), { object, whole }, JSON.stringify(given))
})

t.test('a file that is made is written, and one that changes is edited', async t => {
  const verbOf = (name: string, ...old: (string | null)[]) => {
    const content = old.map(oldText => ({ type: 'diff' as const, path: 'a.ts', oldText, newText: 'a' }))
    return stepWordsOf({ kind: 'edit', name, title: '', description: '', args: {}, locations: [], content }, 'done', undefined).verb
  }
  const [wrote, edited] = [verbOf('Write'), verbOf('Edit')]
  t.not(wrote, edited)
  t.strictSame([verbOf('create_file', 'a'), verbOf('Edit', null), verbOf('Edit', null, null)], [wrote, wrote, wrote])
  t.strictSame([verbOf('Rewrite'), verbOf('Edit', null, 'a'), verbOf('Edit', 'a')], [edited, edited, edited])
})

t.test('a step ends with its exit code, if it ran a command, and its time from one second on', async t => {
  const call = {
    name: 'Bash',
    title: '',
    description: '',
    args: {},
    locations: [],
    content: [{ type: 'text' as const, text: 'Exit code 1' }]
  }
  const cases: [tookMs: number | undefined, command: string, other: string][] = [
    [undefined, 'exit 1', ''],
    [999, 'exit 1', ''],
    [1000, 'exit 1, 1 s', '1 s'],
    [61_000, 'exit 1, 1 min 1 s', '1 min 1 s']
  ]
  for (const [tookMs, command, other] of cases) {
    t.strictSame(resultOf({ ...call, kind: 'execute' }, tookMs), { exit: 1, text: command })
    t.strictSame(resultOf({ ...call, kind: 'read' }, tookMs), { exit: undefined, text: other })
  }
})
