import t from 'tap'
import { nearestTests, selectTests } from './reach.ts'

/** A small tree with the places that have a meaning in ours. */
const tree: Record<string, string> = {
  'lib/server/create.ts': "import './actions/messages.ts'\nimport './edge/http/routes.ts'\nimport '../store/migrate.ts'",
  'lib/server/actions/messages.ts': '',
  'lib/server/edge/http/routes.ts': '',
  'lib/server/limits.ts': "import type { Quota } from './quotas.ts'",
  'lib/server/quotas.ts': '',
  'lib/store/migrate.ts': "listAssets('sqlite/')",
  'lib/wrapper/run/run.ts': "const { turns } = await import('../session/turns.ts')",
  'lib/wrapper/session/turns.ts': '',
  'lib/wrapper/daemon/daemon.ts': '',
  'sqlite/0001_start.sql': 'CREATE TABLE',
  'bin/afield.ts': "await import('./main.ts')",
  'bin/main.ts': "import './commands.ts'",
  'bin/commands.ts': "load: () => import('./commands/serve.ts')",
  'bin/commands/serve.ts': "import '../../lib/server/create.ts'",
  'bin/commands/demo.ts': "import '../../lib/wrapper/run/run.ts'",
  'bin/commands/daemon.ts': "import '../../lib/wrapper/daemon/daemon.ts'",
  'web/bundle.mjs': "entryPoints: ['web/app/main.tsx']",
  'web/app/main.tsx': "import type { Log } from '../session/log.tsx'",
  'web/session/log.tsx': '',
  'web/app/index.css': '@import "../session/log.css";',
  'web/session/log.css': '',
  'docs/operations.md': '',
  'test/fixtures/vectors.json': '{}',
  'test/kit/server.ts': "import '../../lib/server/create.ts'",
  'test/kit/process.ts': "spawn('bin/afield.ts', args)",
  'test/kit/browser.ts': '',
  'test/arrows.test.ts': '',
  'test/server/limits.test.ts': "import '../../lib/server/limits.ts'",
  'test/server/start.test.ts': "import '../kit/server.ts'",
  'test/server/actions/messages.test.ts': "import '../../kit/server.ts'",
  'test/server/edge/http/welcome.test.ts': "import '../../../kit/server.ts'",
  'test/server/edge/http/page.test.ts': "readFileSync('docs/operations.md')",
  'test/wrapper/session/turns.test.ts': "import '../../../lib/wrapper/session/turns.ts'",
  'test/wrapper/session/walk.test.ts': "import '../../kit/process.ts'\nimport '../../kit/server.ts'\nrun(['demo', 'hello'])",
  'test/binary.test.ts': "join(root, 'build.mjs')",
  'bin/packaging/packaging.mjs': "entryPoints: ['bin/packaging/binary.ts']",
  'bin/packaging/binary.ts': '',
  'test/wrapper/daemon/daemon.test.ts': "import '../../kit/process.ts'\nrun(['daemon', 'start'])",
  'test/crypto/vectors.test.ts': "readFileSync('../fixtures/vectors.json')",
  'test/journeys/walk.test.ts': "import '../kit/browser.ts'\nimport '../kit/server.ts'",
  'test/web/look.test.ts': "entryPoints: ['web/app/index.css']",
  'package.json': '{}'
}
const files = Object.keys(tree)
const tests = files.filter(file => file.endsWith('.test.ts'))

function selectionOf(...changed: string[]) {
  const selection = selectTests(changed, { files, tests, read: file => tree[file] ?? '', order: file => file })
  return {
    ...selection,
    runs: Object.fromEntries([...selection.runs].map(([test, why]) => [test.replace(/^test\/|\.test\.ts$/g, ''), why]))
  }
}

const always = { arrows: 'always' }
const sample = 'a sample of those that start a program with it'

t.test('tests that import a changed file run, by types and dynamic imports too', async t => {
  t.same(selectionOf('lib/server/quotas.ts').runs, { ...always, 'server/limits': 'imports lib/server/quotas.ts' })
})

t.test('tests of its folder and of parent folders run when they start a server with it; of the others, a sample', async t => {
  const { runs, left } = selectionOf('lib/server/actions/messages.ts')
  t.same(runs, {
    ...always,
    'server/actions/messages': 'is the test of lib/server/actions/messages.ts',
    'server/start': 'starts a program with lib/server/actions/messages.ts',
    'server/edge/http/welcome': sample,
    'journeys/walk': sample
  })
  t.same(left, ['test/wrapper/daemon/daemon.test.ts', 'test/wrapper/session/walk.test.ts'], 'those that are left are named')
})

t.test('a test that starts the program reaches the commands that it names', async t => {
  t.same(selectionOf('lib/wrapper/session/turns.ts').runs, {
    ...always,
    'wrapper/session/turns': 'is the test of lib/wrapper/session/turns.ts',
    'wrapper/session/walk': 'starts a program with lib/wrapper/session/turns.ts',
    'wrapper/daemon/daemon': sample
  })
  t.notOk(selectionOf('lib/wrapper/daemon/daemon.ts').runs['wrapper/session/walk'], 'the other command is not among them')
})

t.test('a browser loads the app, a style reaches what it is part of, and SQL reaches whatever opens a store', async t => {
  t.same(selectionOf('web/session/log.tsx').runs, { ...always, 'journeys/walk': sample })
  t.same(selectionOf('web/session/log.css').runs, { ...always, 'web/look': 'imports web/session/log.css' })
  t.match(selectionOf('sqlite/0001_start.sql').runs, { 'server/actions/messages': sample })
  t.same(selectionOf('bin/packaging/binary.ts').runs, { ...always, binary: 'imports bin/packaging/binary.ts' })
})

t.test('a page and a fixture reach the tests that read them', async t => {
  t.same(selectionOf('docs/operations.md').runs, { ...always, 'server/edge/http/page': 'imports docs/operations.md' })
  t.match(selectionOf('test/fixtures/vectors.json').runs, { 'crypto/vectors': /imports/ })
})

t.test('everything runs when the base has changed, and files that no test reaches are reported', async t => {
  const { everythingFor, runs } = selectionOf('package.json', 'lib/server/limits.ts')
  t.equal(everythingFor, 'package.json')
  t.equal(Object.keys(runs).length, tests.length)
  t.same(selectionOf('bin/main.ts').untested, [])
  t.same(selectionOf('bin/gone.mjs').untested, [], 'what is gone needs no test')
  t.same(
    selectTests(['bench/append.ts'], { files: [...files, 'bench/append.ts'], tests, read: file => tree[file] ?? '', order: f => f })
      .untested,
    ['bench/append.ts']
  )
})

t.test('the tests of a source are sorted by how near they are', async t => {
  const nearest = nearestTests({ files, tests, read: file => tree[file] ?? '' })
  const namesOf = (file: string) => nearest(file).map(({ test }) => test.replace(/^test\/|\.test\.ts$/g, ''))
  t.same(namesOf('lib/server/limits.ts').slice(0, 1), ['server/limits'], 'its own test is first')
  t.same(namesOf('lib/server/quotas.ts'), ['server/limits'])
  t.same(namesOf('lib/server/actions/messages.ts').slice(0, 3), ['server/actions/messages', 'server/edge/http/welcome', 'server/start'])
  const options = { 'lib/options.ts': '', 'test/options.test.ts': "import '../lib/options.ts'" }
  const ofOptions = nearestTests({ files: Object.keys(options), tests: ['test/options.test.ts'], read: file => options[file as never] })
  t.match(ofOptions('lib/options.ts'), [{ test: 'test/options.test.ts', isOwn: true }], 'also one that runs for every change')
  t.match(nearest('web/session/log.tsx'), [{ test: 'test/journeys/walk.test.ts', opensApp: true, isOwn: false }])
})
