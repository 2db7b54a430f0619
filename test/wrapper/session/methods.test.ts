import fs, { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { fromBase64, toBase64 } from '../../../lib/crypto/bytes.ts'
import { confine } from '../../../lib/wrapper/home/confinement.ts'
import { fileMethods } from '../../../lib/wrapper/session/methods/files.ts'
import { readPolicy } from '../../../lib/wrapper/session/methods/policy.ts'
import { shellMethods } from '../../../lib/wrapper/session/methods/shell.ts'
import { lacks } from '../../kit/needs.ts'

/** A session's folder with files in it, a way out of it, and the wrapper's own folder beside it. */
function folder(t: Test) {
  const top = t.testdir({
    code: { 'a.txt': 'hello\n', src: { 'b.ts': 'export {}\n' }, '.git': { config: '[core]\n', hooks: {} } },
    secret: { 'key.txt': 'secret' },
    home: { 'credentials.json': '{}' },
    bin: {}
  })
  const code = join(top, 'code')
  symlinkSync(join(top, 'secret'), join(code, 'way-out'))
  const home = join(top, 'home')
  const confinement = confine([code], home)
  const files = fileMethods(() => confinement)
  // Says what it is asked.
  const bin = join(top, 'bin')
  writeFileSync(join(bin, 'rg'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 })
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` }
  const shell = shellMethods({ confinement: () => confinement, mayUseShell: () => true, env })
  return { top, code, home, files, shell }
}

const base64 = (text: string) => toBase64(new TextEncoder().encode(text))
const textOf = (content: string) => new TextDecoder().decode(fromBase64(content) ?? new Uint8Array())
const hash = (text: string) =>
  crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)).then(bytes => Buffer.from(bytes).toString('hex'))

t.test('a file is read, replaced if unchanged since, and created if missing', async t => {
  const { code, files } = folder(t)
  const read = files.readFile({ path: 'a.txt' })
  t.equal(read.success && textOf(read.content), 'hello\n')

  const wrong = files.writeFile({ path: 'a.txt', content: base64('mine'), expectedHash: await hash('what I saw') })
  t.match(wrong, { success: false, error: /hash mismatch/ })
  t.equal(readFileSync(join(code, 'a.txt'), 'utf8'), 'hello\n', 'nothing was written')
  const expectedHash = await hash('hello\n')
  t.match(files.writeFile({ path: join(code, 'a.txt'), content: base64('mine'), expectedHash }), {
    success: true,
    hash: await hash('mine')
  })
  t.equal(readFileSync(join(code, 'a.txt'), 'utf8'), 'mine')

  t.match(files.writeFile({ path: 'a.txt', content: base64('new') }), { success: false, error: /already exists/ })
  t.match(files.writeFile({ path: 'new.txt', content: base64('new') }), { success: true })
  t.match(files.writeFile({ path: 'new2.txt', content: '?' }), { success: false, error: /base64/ })
  t.notOk(existsSync(join(code, 'new2.txt')))
})

const full = () => {
  throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
}

/** From now on these functions of the system do this instead. */
function replace(t: Test, functions: Partial<typeof fs>): void {
  const before = Object.fromEntries(Object.keys(functions).map(name => [name, Reflect.get(fs, name)]))
  const use = (these: object) => {
    Object.assign(fs, these)
    syncBuiltinESMExports()
  }
  use(functions)
  t.teardown(() => use(before))
}

t.test('a file that cannot be written as a whole is neither created nor changed, and nothing else stays', async t => {
  const { code, files } = folder(t)
  const expectedHash = await hash('hello\n')
  const names = readdirSync(code)
  const { writeFileSync } = fs
  const before = ['writeFileSync', 'fsyncSync', 'renameSync'] as const
  for (const name of before) {
    t.test(`when ${name} fails`, async t => {
      const half: typeof writeFileSync = file => {
        writeFileSync(file, 'he')
        full()
      }
      replace(t, { [name]: name === 'writeFileSync' ? half : full })
      const outOfSpace = { success: false, error: 'This computer is out of disk space.' }
      t.strictSame(files.writeFile({ path: 'a.txt', content: base64('mine'), expectedHash }), outOfSpace)
      if (name !== 'renameSync') t.strictSame(files.writeFile({ path: 'new.txt', content: base64('new') }), outOfSpace)
      t.equal(readFileSync(join(code, 'a.txt'), 'utf8'), 'hello\n')
      t.strictSame(readdirSync(code), names)
    })
  }
})

t.test('what is reported as written is on disk, and its handle is closed', { skip: process.platform === 'win32' }, async t => {
  const { code, files } = folder(t)
  const handles: [string, unknown][] = []
  const { fsyncSync, closeSync } = fs
  replace(t, {
    fsyncSync(handle) {
      handles.push(['synced', statSync(join(code, 'new.txt')).size])
      fsyncSync(handle)
    },
    closeSync(handle) {
      handles.push(['closed', fs.fstatSync(handle).isFile()])
      closeSync(handle)
    }
  })
  t.match(files.writeFile({ path: 'new.txt', content: base64('new') }), { success: true })
  t.strictSame(handles, [
    ['synced', 3],
    ['closed', true]
  ])
})

t.test('a replaced file keeps who may read and run it', { skip: process.platform === 'win32' }, async t => {
  const { code, files } = folder(t)
  for (const mode of [0o755, 0o640, 0o500]) {
    chmodSync(join(code, 'a.txt'), mode)
    const read = files.readFile({ path: 'a.txt' })
    const expectedHash = await hash(read.success ? textOf(read.content) : '')
    t.match(files.writeFile({ path: 'a.txt', content: base64(`${mode}`), expectedHash }), { success: true })
    t.equal(statSync(join(code, 'a.txt')).mode & 0o777, mode)
  }
  t.match(files.writeFile({ path: 'new.txt', content: base64('new') }), { success: true })
  t.equal(statSync(join(code, 'new.txt')).mode & 0o777, 0o666 & ~process.umask())
})

t.test('what cannot be read or written is said in a sentence, also a file over the limit', async t => {
  const { code, files } = folder(t)
  const most = 10 * 1024 * 1024
  writeFileSync(join(code, 'large'), '')
  truncateSync(join(code, 'large'), most)
  t.match(files.readFile({ path: 'large' }), { success: true })
  truncateSync(join(code, 'large'), most + 1)
  t.match(files.readFile({ path: 'large' }), { success: false, error: `This file has ${most + 1} bytes; at most ${most} are read.` })
  t.strictSame(files.readFile({ path: 'src' }), { success: false, error: 'This is not a file.' })
  t.match(files.listDirectory({ path: 'a.txt' }), { success: false, error: 'This is not a folder.' })
  t.match(files.listDirectory({ path: 'src' }), { success: true, path: join(code, 'src'), entries: [{ name: 'b.ts' }] })
  t.match(files.writeFile({ path: 'none/new.txt', content: base64('new') }), {
    success: false,
    error: 'There is no such file or folder.'
  })
  t.match(files.writeFile({ path: 'a.txt', content: base64('new'), expectedHash: null }), { success: false, error: /already exists/ })
  for (const code of ['EACCES', 'EPERM', 'EMFILE']) {
    t.test(code, async t => {
      const refuse = () => {
        throw Object.assign(new Error(`${code}: open`), { code })
      }
      replace(t, { openSync: refuse })
      const error = code === 'EMFILE' ? 'EMFILE: open' : 'This computer does not allow that.'
      t.strictSame(files.writeFile({ path: 'new.txt', content: base64('new') }), { success: false, error })
    })
  }
})

t.test('nothing outside the folder is read, written or listed, under any name', t => {
  const { top, code, home, files } = folder(t)
  const outside = [
    '../secret/key.txt',
    'way-out/key.txt',
    join(top, 'secret'),
    `${code}-not`,
    '/etc/passwd',
    join(home, 'credentials.json'),
    '~/.ssh'
  ]
  for (const path of outside) {
    const refused = { success: false, error: /allowed|Afield’s own folder/ }
    t.match(files.readFile({ path }), refused, path)
    t.match(files.writeFile({ path, content: base64('evil') }), refused, path)
    t.match(files.listDirectory({ path }), refused, path)
    t.match(files.getDirectoryTree({ path, maxDepth: 3 }), refused, path)
  }
  t.equal(readFileSync(join(top, 'secret', 'key.txt'), 'utf8'), 'secret')
  t.end()
})

t.test('files that other programs execute automatically are not changed', t => {
  const { code, files } = folder(t)
  const ofGit = [
    '.git/hooks/pre-commit',
    '.git/config',
    join(code, '.git', 'hooks', 'x'),
    '.git/modules/a/hooks/x',
    '.GIT/hooks/x',
    'src/.git'
  ]
  for (const path of ofGit) {
    t.match(files.writeFile({ path, content: base64('evil') }), { success: false, error: /Git runs/ }, path)
  }
  const atHome = fileMethods(() => confine([homedir()], join(code, 'nowhere')))
  const ofSignIn = [
    '.zshenv',
    '.zlogout',
    '.config/fish/config.fish',
    '.config/git/config',
    '.ssh/authorized_keys',
    '.config/systemd/user/x.service'
  ]
  for (const path of ofSignIn)
    t.match(atHome.writeFile({ path: `~/${path}`, content: base64('evil') }), { success: false, error: /run at sign-in/ }, path)
  t.end()
})

t.test('a tree omits links, and lists folders first', t => {
  const { code, files } = folder(t)
  const found = files.getDirectoryTree({ path: '.', maxDepth: 1 })
  t.match(found, { success: true, tree: { type: 'directory', path: code } })
  t.strictSame(found.success && found.tree.children?.map(({ name }) => name), ['.git', 'src', 'a.txt'])
  t.equal(found.success && found.tree.children?.[1]?.children, undefined, 'no deeper than asked')
  t.match(files.listDirectory({ path: 'missing' }), { success: false, error: /no such file/ })
  t.end()
})

t.test('a command runs in the folder, reports how it ended, and is ended with all its children', async t => {
  const { code, shell } = folder(t)
  t.match(await shell.bash({ command: 'pwd; echo no >&2; exit 3', cwd: '/' }), {
    success: false,
    stdout: `${code}\n`,
    stderr: 'no\n',
    exitCode: 3
  })
  t.match(await shell.bash({ command: 'echo $AFIELD_SERVER$AFIELD_HOME' }), { success: true, stdout: '\n' })
  const late = await shell.bash({ command: 'sleep 60 & echo $!; wait', timeout: 300 })
  t.match(late, { success: false, exitCode: -1, error: 'Command timed out' })
  t.notOk(isRunning(late.stdout.trim()), 'also what it had put into the background')
  await t.rejects(async () => shell.bash({ command: 'true', cwd: '../secret' }), /allowed/)
  const much = await shell.bash({ command: 'head -c 5000000 /dev/zero' })
  t.match(much.stdout.slice(-40), /bytes left out/)
})

t.test('a search starts no programs and reads nothing outside', async t => {
  const { top, shell } = folder(t)
  for (const way of ['way-out', 'way-out/..', 'way-out/key.txt', '../secret', join(top, 'secret', 'key.txt')])
    await t.rejects(async () => shell.ripgrep({ args: ['secret', way] }), /allowed/, way)
  await t.rejects(async () => shell.ripgrep({ args: ['secret', '../way-out'], cwd: 'src' }), /allowed/, 'seen from where it runs')
  t.match(
    await shell.ripgrep({ args: ['a/../..', '.'] }),
    { success: true, stdout: /a\/..\/.. .\n$/ },
    'what is not there can be looked for'
  )
  const running = ['--pre=sh', '--pre', '--pre-glob=*', '--hostname-bin=x', '-z', '-nz', '--search-zip', '--search-zi', '--null-data']
  const reading = [
    '--file=/etc/passwd',
    '-f',
    '-f/etc/passwd',
    '-.f/etc/passwd',
    '--ignore-file=/etc/passwd',
    '-L',
    '-0L',
    '-nL',
    '-.',
    '-'
  ]
  const odd = ['--follow=yes', '--files=x', '--max-count=1x', '-n1', '--type-add=a:*', '--colors=x', '--constructor', '--regexp']
  for (const arg of [...running, ...reading, ...odd]) {
    const { error } = await shell.ripgrep({ args: arg === '--regexp' ? [arg] : [arg, 'x'] })
    t.match(error, /not available/, arg)
  }
})

t.test('search terms of apps are passed on in a form that the program cannot mistake for options', async t => {
  const { shell } = folder(t)
  const cases: [string[], string][] = [
    [['--files', '--follow'], '--files --'],
    [['--files', '--follow', '--hidden', '--no-ignore', '--glob', '!.git'], '--files --hidden --no-ignore --glob=!.git --'],
    [['-l', '--max-count=50', 'gate'], '--files-with-matches --max-count=50 -- gate'],
    [['-n', '-i', '-e', '--pre=sh', '-g', '-f', '.'], '--line-number --ignore-case --regexp=--pre=sh --glob=-f -- .'],
    [['--json', '--', '--pre=sh', 'src'], '--json -- --pre=sh src']
  ]
  for (const [args, asked] of cases) t.match(await shell.ripgrep({ args }), { success: true, stdout: `--no-config ${asked}\n` })
  await t.rejects(async () => shell.ripgrep({ args: ['-e', 'x', '../secret'] }), /allowed/)
  await t.rejects(async () => shell.ripgrep({ args: ['--files', '--', '../secret'] }), /allowed/)
})

t.test('the real program reads no file named by its options, and follows no link out', { skip: lacks('ripgrep') }, async t => {
  const { code } = folder(t)
  const shell = shellMethods({ confinement: () => confine([code], '/nowhere'), mayUseShell: () => true, env: process.env })
  const { stdout } = await shell.ripgrep({ args: ['--files', '--follow', '--hidden'] })
  t.strictSame(
    stdout
      .trim()
      .split('\n')
      .filter(path => !path.startsWith('.git/'))
      .toSorted(),
    ['a.txt', 'src/b.ts']
  )
  t.match(await shell.ripgrep({ args: ['-n', 'hello', '.'] }), { success: true, stdout: /a.txt:1:hello/ })
  for (const args of [
    ['-.f/etc/passwd', '.'],
    ['-0L', 'secret', '.']
  ]) {
    const { stdout, error } = await shell.ripgrep({ args })
    t.match({ stdout, error }, { stdout: '', error: /not available/ })
  }
})

t.test('the policy file says where and whether; an unreadable one allows nothing', t => {
  const { home } = folder(t)
  t.strictSame(readPolicy(home), { folders: [homedir()], hasShell: true })
  writeFileSync(join(home, 'policy.json'), JSON.stringify({ folders: ['/srv'], shell: false }))
  t.strictSame(readPolicy(home), { folders: ['/srv'], hasShell: false })
  for (const broken of ['{', '{"folders":["relative"]}', '{"shell":"no"}']) {
    writeFileSync(join(home, 'policy.json'), broken)
    t.throws(() => readPolicy(home), /nothing is allowed/, broken)
  }
  t.end()
})

t.test('a shell that the policy forbids is not started', async t => {
  const { code } = folder(t)
  const shell = shellMethods({ confinement: () => confine([code], '/nowhere'), mayUseShell: () => false, env: process.env })
  t.match(await shell.bash({ command: 'touch here' }), { success: false, error: /not let phones run commands/ })
  t.equal(statSync(join(code, 'here'), { throwIfNoEntry: false }), undefined)
})

function isRunning(pid: string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
