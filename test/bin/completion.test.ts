import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { Argv } from 'yargs'
import { handlerFor } from '../../bin/commands/internal/complete.ts'
import { completionFor } from '../../bin/completion.ts'
import { helpPages } from '../../lib/help-pages.ts'
import { createSessionFolder } from '../../lib/wrapper/home/session-folder.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { here } from './kit/here.ts'

const commands = [
  { name: 'daemon', about: "The computer's side" },
  { name: 'demo', about: 'Try: it' }
]

t.test('bash completes the names of commands', { skip: process.platform === 'win32' }, async t => {
  const ask = 'COMP_WORDS=(afield dae); COMP_CWORD=1; _afield; echo $COMPREPLY'
  t.equal(execFileSync('bash', ['-c', `${completionFor('bash', commands)}\n${ask}`], { encoding: 'utf8' }), 'daemon\n')
})

t.test('no text of a command can break out of its quotes', async t => {
  for (const shell of ['zsh', 'fish'] as const) {
    const script = completionFor(shell, commands)
    t.equal(script.split("'").length % 2, 1)
    t.match(script, /The computer’s side/)
  }
})

t.test('the list of commands has every command except hidden ones', async t => {
  const said = runWrapper(t, { home: t.testdir(), args: ['completion', 'fish'] })
  t.equal(await said.ended, 0)
  for (const name of ['serve', 'claude', 'daemon', 'notify']) t.match(said.output, new RegExp(`-a ${name} -d`))
  t.notMatch(said.output, /run-module|demo-agent/)
})

t.test('after a command, its options, words and sessions are completed', { skip: process.platform === 'win32' }, async t => {
  const root = t.testdir({ bin: {}, home: {} })
  const home = join(root, 'home')
  const metadata = { path: home, host: 'here', name: 'One' }
  createSessionFolder(home, { tag: 'one', id: 'id-of-one', server: 'http://x', key: null, metadata, cursor: 0, turn: null }).retire()
  const bin = join(root, 'bin')
  const program = join(bin, 'afield')
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${resolve('bin/afield.ts')} "$@"\n`)
  chmodSync(program, 0o755)
  const env = { ...process.env, AFIELD_HOME: home, PATH: `${bin}:${process.env['PATH']}` }
  const completed = (...words: string[]) => {
    const ask = `COMP_WORDS=(afield ${words.join(' ')}); COMP_CWORD=${words.length}; _afield; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', `${completionFor('bash', commands)}\n${ask}`], { encoding: 'utf8', env })
      .split('\n')
      .filter(Boolean)
  }
  t.same(completed('serve', '--tls-'), ['--tls-cert', '--tls-key'])
  t.same(completed('token', 'c'), ['create'])
  t.same(completed('serve', '--log-level', 'w'), ['warn'])
  t.same(completed('resume', "''"), ['id-of-one'])
  t.same(completed('resume', '--t'), [], 'hidden options stay hidden')
  t.same(completed('nonsense', '--'), [])
})

t.test('the next word of a command is one that it knows there, with what it means', async t => {
  const home = t.testdir()
  const notes = { server: 'http://x', key: null, cursor: 0, turn: null }
  const metadata = { path: home, host: 'here', name: 'The\n gate' }
  createSessionFolder(home, { ...notes, tag: 'one', id: 'id-of-one', metadata }).retire()
  createSessionFolder(home, { ...notes, tag: 'two', metadata: { path: home, host: 'here' } }).retire()
  const help = '--help\tShow help\n'
  const cases: [words: string[], completed: string][] = [
    [[], ''],
    [['nonsense', ''], ''],
    [['token', ''], 'create\t\nlist\t\nrevoke\t\n'],
    [['token', 'r'], 'revoke\t\n'],
    [['token'], 'create\t\nlist\t\nrevoke\t\n'],
    [['token', 'create', ''], ''],
    [['serve', '--log-level', ''], 'silent\t\nerror\t\nwarn\t\ninfo\t\ndebug\t\n'],
    [['serve', '--log-level', 'war'], 'warn\t\n'],
    [['serve', '--log-level', '--tls-c'], ''],
    [['serve', 'log-level', ''], ''],
    [['serve', '--port', ''], ''],
    [['daemon', 'sta'], 'start\t\nstatus\t\n'],
    [['logout', '-y', ''], ''],
    [['allow', '--'], `${help}--list\tList allowed folders\n--remove\tStop allowing it\n`],
    [['resume', '--ta'], ''],
    [['resume', ''], 'id-of-one\tThe gate\n'],
    [['sessions', 'id'], 'id-of-one\tThe gate\n'],
    [['sessions', 'one'], ''],
    [['notify', ''], ''],
    [['help', 'logi'], 'login\tLink this computer to your account\n'],
    [['help', 'compl'], 'completion\tPrint the completion script for your shell\n'],
    [['help', helpPages[0] ?? ''], `${helpPages[0]}\ta page of the manual\n`],
    [['completion', ''], 'bash\t\nzsh\t\nfish\t\n']
  ]
  for (const [words, completed] of cases)
    t.strictSame(
      await here(t, 'complete', { '--': words }, { AFIELD_HOME: home }),
      { code: 0, stdout: completed, stderr: '' },
      words.join(' ')
    )
  t.match(await here(t, 'complete', {}), { stdout: '' })
})

t.test('the values of an option are completed after each of its names', async t => {
  const builder = (line: Argv) =>
    line
      .option('color', { alias: 'c', choices: ['red', 'reed'] })
      .option('no', {})
      .option('all', {})
  const load = async () => ({ builder })
  const handler = handlerFor([{ usage: 'paint [what]', about: 'Paint', load }])
  const completed = async (...words: string[]) => (await here(t, handler, { '--': ['paint', ...words] })).stdout
  for (const option of ['--color', '-c']) t.equal(await completed(option, ''), 'red\t\nreed\t\n', option)
  t.equal(await completed('--color', 'red', ''), '', 'only right after it')
  t.equal(await completed('--all', ''), '')
  t.equal(await completed('--'), '--help\tShow help\n--color\t\n--no\t\n--all\t\n')
})
