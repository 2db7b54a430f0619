import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { completionFor } from '../../bin/completion.ts'
import { createSessionFolder } from '../../lib/wrapper/home/session-folder.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

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
