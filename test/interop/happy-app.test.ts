import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { buildCommands, findApp, hasPictures, serveApp } from './happy-app-build.ts'
import { serveStandIn } from './happy-app-stand-in.ts'
import { walkApp } from './happy-app-walk.ts'
import { Steps } from './steps.ts'

const script = join(import.meta.dirname, 'happy-app.ts')
const manifest = JSON.stringify({ name: 'happy-app' })

t.test("a folder without the sources of Happy's app is rejected with a sentence", t => {
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

t.test('the app is found in its repository and installed with the package manager it names', t => {
  const root = JSON.stringify({ packageManager: 'pnpm@10.11.0+sha512.ab' })
  const folder = t.testdir({ 'package.json': root, packages: { 'happy-app': { 'package.json': manifest } } })
  const app = findApp(folder)
  t.equal(app, join(folder, 'packages', 'happy-app'))
  const build = ['npx', '--yes', 'pnpm@10.11.0', 'exec', 'expo', 'export', '--platform', 'web', '--output-dir', '/out']
  t.strictSame(buildCommands(app, '/out'), [
    { cwd: folder, run: ['npx', '--yes', 'pnpm@10.11.0', 'install'] },
    { cwd: app, run: build }
  ])
  t.strictSame(buildCommands(findApp(app), '/out')[0]?.cwd, folder, 'also where the app alone was named')
  t.end()
})

t.test('without a named package manager, the lock file decides', t => {
  for (const [lock, run] of [
    ['yarn.lock', ['npx', '--yes', 'yarn@1', 'install']],
    ['pnpm-lock.yaml', ['npx', '--yes', 'pnpm', 'install']],
    ['package-lock.json', ['npm', 'install']]
  ] as const) {
    const folder = t.testdir({ [lock]: '', 'package.json': '{}', packages: { 'happy-app': { 'package.json': manifest } } })
    t.strictSame(buildCommands(findApp(folder), '/out')[0]?.run, run)
  }
  t.end()
})

t.test('pictures are sent where the sources have them', t => {
  const folder = t.testdir({ old: {}, new: { sources: { hooks: { 'useImagePicker.ts': '' } } } })
  t.same([hasPictures(join(folder, 'old')), hasPictures(join(folder, 'new'))], [false, true])
  t.end()
})

t.test('the build is served with its page at every path, and nothing else is', async t => {
  const folder = t.testdir({ 'secret.txt': 'secret', out: { 'index.html': 'page', 'main.js': 'script' } })
  const { url, server } = await serveApp(join(folder, 'out'))
  t.teardown(() => server.close())
  const read = async (path: string) => (await fetch(url + path)).text()
  t.same(
    [await read('/'), await read('/session/1'), await read('/main.js'), await read('/%2e%2e%2fsecret.txt')],
    ['page', 'page', 'script', 'page']
  )
})

t.test(
  'a walk stops at the first step that the app does not complete, and reports what its screen shows',
  { timeout: 120_000 },
  async t => {
    const teardown = (end: () => unknown) => t.teardown(end)
    const lines: string[] = []
    const steps = new Steps(line => lines.push(line))
    const walk = {
      app: await serveStandIn({ teardown }, 'create'),
      folder: t.testdir(),
      steps,
      teardown,
      hasPictures: true,
      stepMs: 6_000
    }
    await t.rejects(walkApp(walk), /an account is made: not done within 6000 ms/)
    t.match(lines[2], /^failed .*an account is made$/)
    t.match(lines.slice(3), [/\/ shows:/, /Error: A key was not given/])
    t.match(steps.summary(), /^2 ok, 1 failed/)
  }
)
