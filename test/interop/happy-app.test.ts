import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { buildCommands, findApp, serveApp } from './happy-app-build.ts'

const script = join(import.meta.dirname, 'happy-app.ts')
const manifest = JSON.stringify({ name: 'happy-app' })

t.test("a folder without the sources of Happy's app is refused with a sentence", t => {
  const folder = t.testdir({ 'package.json': '{"name":"another"}' })
  for (const [args, says] of [
    [[], /Name the folder/],
    [[folder], /has no sources of Happy's app/],
    [[folder, '--built'], /Name the folder/]
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
    t.equal(status, 1)
    t.match(stderr, says)
    t.notMatch(stderr, /\n {4}at /, 'and no trace')
  }
  t.end()
})

t.test('the app is found in its repository, and built with the package manager of its lock file', t => {
  const folder = t.testdir({ 'pnpm-lock.yaml': '', packages: { 'happy-app': { 'package.json': manifest } } })
  const app = findApp(folder)
  t.equal(app, join(folder, 'packages', 'happy-app'))
  t.strictSame(buildCommands(app, '/out'), [
    ['pnpm', 'install'],
    ['pnpm', 'exec', 'expo', 'export', '--platform', 'web', '--output-dir', '/out']
  ])
  const alone = t.testdir({ 'yarn.lock': '', 'package.json': manifest })
  t.strictSame(buildCommands(findApp(alone), '/out')[1], ['yarn', 'expo', 'export', '--platform', 'web', '--output-dir', '/out'])
  t.end()
})

t.test('what was built is served with its page at every path, and nothing beside it', async t => {
  const folder = t.testdir({ 'secret.txt': 'secret', out: { 'index.html': 'page', 'main.js': 'script' } })
  const { url, server } = await serveApp(join(folder, 'out'))
  t.teardown(() => server.close())
  const read = async (path: string) => (await fetch(url + path)).text()
  t.same(
    [await read('/'), await read('/session/1'), await read('/main.js'), await read('/%2e%2e%2fsecret.txt')],
    ['page', 'page', 'script', 'page']
  )
})
