import { execFileSync } from 'node:child_process'
import t from 'tap'
import { completionFor } from '../../bin/completion.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'

const commands = [
  { name: 'daemon', about: "The computer's side" },
  { name: 'demo', about: 'Try: it' }
]

t.test('bash completes the names of commands', { skip: process.platform === 'win32' }, async t => {
  const ask = 'COMP_WORDS=(afield dae); COMP_CWORD=1; _afield; echo $COMPREPLY'
  t.equal(execFileSync('bash', ['-c', `${completionFor('bash', commands)}\n${ask}`], { encoding: 'utf8' }), 'daemon\n')
})

t.test('nothing that a command says about itself can end its quotes', async t => {
  for (const shell of ['zsh', 'fish'] as const) {
    const script = completionFor(shell, commands)
    t.equal(script.split("'").length % 2, 1)
    t.match(script, /The computer’s side/)
  }
})

t.test('the command knows every other command, and no hidden one', async t => {
  const said = runWrapper(t, { home: t.testdir(), args: ['completion', 'fish'] })
  t.equal(await said.ended, 0)
  for (const name of ['serve', 'claude', 'daemon', 'notify']) t.match(said.output, new RegExp(`-a ${name} -d`))
  t.notMatch(said.output, /run-module|demo-agent/)
})
