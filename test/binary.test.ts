import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { fetch } from 'undici'
import { startServer } from './kit/server.ts'
import { computerWithClaude } from './wrapper/kit/claude.ts'
import { texts, turnsEnded } from './wrapper/kit/demo.ts'

const root = join(import.meta.dirname, '..')
const name = process.platform === 'win32' ? 'afield.exe' : 'afield'
const alone = { PATH: '' }

t.test('the program needs nothing but its one file', { timeout: 240_000 }, async t => {
  const built = spawnSync(process.execPath, [join(root, 'build.mjs'), 'binary'], { encoding: 'utf8' })
  t.equal(built.status, 0, built.stderr)
  const directory = t.testdir()
  const program = join(directory, name)
  copyFileSync(join(root, 'build', name), program)

  await t.test('it serves the app from an empty directory, and stops when asked', async t => {
    const server = spawn(program, ['serve', '--port', '0', '--data', 'data'], {
      cwd: directory,
      env: alone,
      stdio: ['ignore', 'pipe', 'inherit']
    })
    t.teardown(() => server.kill('SIGKILL'))
    const url = await listeningUrl(server)
    if (process.platform === 'linux') t.equal(readFileSync(`/proc/${server.pid}/comm`, 'utf8'), 'afield\n')

    t.equal((await fetch(`${url}/health`)).status, 200)
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
    t.match(page, '<title>Afield</title>')
    const script = /src="(\/assets\/[^"]+)"/.exec(page)?.[1]
    t.equal((await fetch(`${url}${script}`)).headers.get('content-type'), 'text/javascript; charset=utf-8')

    server.kill('SIGTERM')
    t.same(await once(server, 'exit'), [0, null])
    t.same(readdirSync(directory).toSorted(), [name, 'data'], 'nothing is unpacked beside it')
  })

  await t.test('it runs Claude Code on its own screen, then from the phone, and back', async t => {
    const { phone, sitDown } = await computerWithClaude(t, await startServer(t))
    const terminal = sitDown(['claude'], {}, [program])
    const session = await phone.session()
    await terminal.sees(/tty true/)
    terminal.type('from one file\r')
    await session.until(session => turnsEnded(session) === 1)
    await session.call('switch', { to: 'remote' })
    await session.say('and remote')
    await session.until(session => turnsEnded(session) === 2)
    t.strictSame(texts(session), ['you said: from one file', 'you said: and remote'])
    terminal.kill('SIGTERM')
    t.equal(await terminal.ended, 0)
  })

  await t.test('it backs up a data directory and restores it', async t => {
    const run = (...args: string[]) => spawnSync(program, args, { cwd: directory, env: alone, encoding: 'utf8' })
    const backup = run('backup', 'copy.afield', '--data', 'data')
    t.equal(backup.status, 0, backup.stderr)
    const restore = run('restore', 'copy.afield', '--data', 'restored')
    t.equal(restore.status, 0, restore.stderr)
    t.ok(readdirSync(join(directory, 'restored')).includes('afield.db'))
  })

  await t.test(
    'without a place to run code from, it says so in one sentence and creates nothing',
    { skip: process.platform === 'win32' },
    async t => {
      const env = { ...alone, TMPDIR: '/proc/nowhere', HOME: '/proc/nowhere' }
      const refused = spawnSync(program, ['serve', '--port', '0', '--data', '/proc/nowhere/data'], {
        cwd: directory,
        env,
        encoding: 'utf8'
      })
      t.equal(refused.status, 78)
      t.match(refused.stderr, /^Afield needs a directory that it may write to and run code from, .*\n$/)
    }
  )

  for (const command of [['--help'], ['--version'], ['serve', '--help'], ['demo', '--help'], ['run', '--help'], ['help', 'https']]) {
    await t.test(`it answers ${command.join(' ')}`, async t => {
      const { status, stdout } = spawnSync(program, command, { cwd: directory, env: alone, encoding: 'utf8' })
      t.equal(status, 0)
      t.match(stdout, command[0] === '--version' ? /^\d+\.\d+\.\d+/ : 'afield')
    })
  }
})

async function listeningUrl({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('The output of the server is not read.')
  for await (const line of createInterface(stdout)) {
    const url = /^afield listening on (\S+)$/.exec(line)?.[1]
    if (url) return url
  }
  throw new Error('The server ended before it listened.')
}
