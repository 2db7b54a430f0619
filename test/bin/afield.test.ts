import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'

const program = join(import.meta.dirname, '../../bin/afield.ts')

t.test('a failed start prints its reason in one sentence and exits with code 78', async t => {
  const directory = t.testdir({ file: '' })
  const busy = createServer().listen(0, '127.0.0.1')
  t.teardown(() => busy.close())
  await once(busy, 'listening')
  const address = busy.address()
  const port = typeof address === 'object' && address ? String(address.port) : ''

  const refused: [why: string, args: string[], says: RegExp][] = [
    ['a command with a slip in it', ['sevre'], /^There is no command sevre\. Did you mean serve\? See node build\.mjs start --help\.$/m],
    ['an unknown command', ['bogus'], /^There is no command bogus\. See node build\.mjs start --help\.$/m],
    [
      'an unknown option',
      ['serve', '--prot', '1'],
      /^There is no option --prot\. Did you mean --port\? See node build\.mjs start serve --help\.$/m
    ],
    ['an unknown option of two words', ['serve', '--new-port=1'], /^There is no option --new-port\. See/],
    ['an option like none there is', ['serve', '--colour'], /^There is no option --colour\. See/],
    ['an option with a slip before any command', ['--verison'], /^There is no option --verison\. Did you mean --version\? See/],
    ['version with a slip', ['versoin'], /^There is no command versoin\. Did you mean version\?/],
    ['an unknown option of one letter', ['sessions', '-x'], /^There is no option -x\. See/],
    ['an unknown option without a command', ['--bogus'], /^There is no option --bogus\. See node build\.mjs start --help\.$/m],
    ['a word too many', ['login', 'here'], /^Unexpected argument here\. See/],
    ['help with an unknown command', ['help', 'bogus'], /^There is no command and no page bogus\./],
    ['an option without its value', ['serve', '--port'], /^--port needs a value\./],
    ['an option that takes other words', ['serve', '--signup', 'all'], /^--signup must be one of owner, .*, closed, not all\. See/],
    ['an argument that takes other words', ['daemon', 'bogus'], /^action must be one of start, .*, not bogus\. See/],
    ['a number that is none', ['flush', '--seconds', 'soon'], /^--seconds must be a whole number above 0\.$/m],
    ['nothing to tell', ['notify'], /^What should your phone show\? For example:\n {2}node build\.mjs start notify /],
    [
      'an argument that is missing',
      ['backup'],
      /^An argument is missing: node build\.mjs start backup <target>\. See .* backup --help\.$/m
    ],
    ['a source that is missing', ['upgrade'], /upgrade <source>\. The source is the folder of a downloaded release, .* https address/],
    ['a busy port', ['serve', '--port', port, '--data', join(directory, 'data')], new RegExp(port)],
    ['a data directory inside a file', ['serve', '--port', '0', '--data', join(directory, 'file', 'data')], /data directory/],
    ['an open network without HTTPS', ['serve', '--port', '0', '--host', '0.0.0.0'], /HTTPS/]
  ]
  for (const [why, args, says] of refused) {
    await t.test(why, async t => {
      const { status, stderr, stdout } = run(args)
      t.equal(status, 78)
      t.match(stderr, says)
      // A command to copy stands on a line of its own.
      t.equal(
        stderr
          .replace(/\n {2}.*/, '')
          .trim()
          .split('\n').length,
        1,
        stderr
      )
      t.equal(stdout, '')
    })
  }
})

t.test('--help before a command shows the help of that command, and so does --version', t => {
  t.match(run(['help', 'sessions']), { status: 0, stdout: /^afield sessions /, stderr: '' })
  t.match(run(['version']), { status: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' })
  t.match(run(['help']), { status: 0, stdout: /afield <command>/, stderr: '' })
  for (const command of ['serve', 'sessions', 'push']) {
    const { stdout } = run([command, '--help'])
    t.strictSame(
      stdout.split('\n').filter(line => line.length > 80),
      [],
      'also behind a pipe it fits a usual screen'
    )
    t.notMatch(stdout, 'Positionals')
  }
  t.end()
})

t.test('the last value of a repeated option counts', async t => {
  const data = t.testdir()
  const server = start(t, [
    'serve',
    '--port',
    '70000',
    '--signup',
    'closed',
    '--data',
    '/nowhere',
    '--port',
    '0',
    '--data',
    data,
    '--signup',
    'open'
  ])
  await listening(server)
  t.ok(existsSync(join(data, 'afield.db')))
})

t.test('a database from a later version is not changed, and the exit code is 78', async t => {
  const data = t.testdir()
  const server = start(t, ['serve', '--port', '0', '--data', data])
  await listening(server)
  server.kill('SIGTERM')
  await once(server, 'exit')
  const { default: Database } = await import('better-sqlite3')
  const database = new Database(join(data, 'afield.db'))
  database.pragma(`user_version = ${Number(database.pragma('user_version', { simple: true })) + 1}`)
  database.close()

  const { status, stderr } = run(['serve', '--port', '0', '--data', data])
  t.equal(status, 78)
  t.equal(stderr.trim().split('\n').length, 1, stderr)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} ends the server with exit code 0 [L1]`, async t => {
    const server = start(t, ['serve', '--port', '0', '--data', t.testdir()])
    await listening(server)
    server.kill(signal)
    t.same(await once(server, 'exit'), [0, null])
  })
}

t.test('the setup code is not printed when no person reads the output', async t => {
  const data = t.testdir()
  const server = start(t, ['serve', '--port', '0', '--data', data])
  const lines: string[] = []
  await listening(server, lines)
  server.kill('SIGTERM')
  await once(server, 'exit')
  t.notMatch(lines.join('\n'), 'setup=')
})

t.test('running an agent does not load the server', async t => {
  const loaded = spawnSync(process.execPath, ['--input-type=module', '--eval', reportLoaded], { encoding: 'utf8' })
  t.equal(loaded.stdout, '')
  t.equal(loaded.stderr, '')
})

// Loads every command but the server's own and prints the native addons that came along.
const reportLoaded = `
  const { commands } = await import(${JSON.stringify(join(program, '../commands.ts'))})
  for (const { usage, load } of commands) if (usage !== 'serve') await load()
  process.stdout.write(process.report.getReport().sharedObjects.filter(name => name.endsWith('.node')).join(' '))`

function run(args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', timeout: 20_000 })
}

function start(t: Test, args: string[]): ChildProcess {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

async function listening({ stdout }: ChildProcess, lines: string[] = []): Promise<void> {
  if (!stdout) throw new Error('The output of the server is not read.')
  for await (const line of createInterface(stdout)) {
    lines.push(line)
    if (line.startsWith('2.')) return
  }
  throw new Error('The server ended before it listened.')
}
