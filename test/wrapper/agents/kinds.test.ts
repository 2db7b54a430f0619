import t from 'tap'
import { acpKind, kindOf } from '../../../lib/wrapper/agents/kinds.ts'

const named = (command: string, ...args: string[]) => {
  const { flavor, title } = acpKind(command, args)
  return [flavor, title]
}

t.test('an agent that speaks ACP is recognized by its program, wherever that is and whatever starts it', t => {
  t.strictSame(named('/opt/bin/claude-code-acp'), ['claude', 'Claude Code'])
  t.strictSame(named('codex-acp'), ['codex', 'Codex'])
  t.strictSame(named('gemini', '--acp'), ['gemini', 'Gemini'])
  t.strictSame(named('/usr/bin/node', '/srv/opencode.js', 'acp'), ['opencode', 'opencode'])
  t.strictSame(named('qwen'), ['acp', 'Qwen Code'])
  t.strictSame(named('goose', 'acp'), ['acp', 'Goose'])
  t.end()
})

t.test('any other is named after its program', t => {
  for (const name of ['painter', 'painter.exe', 'painter.CMD', '/opt/painter.js', 'painter.mjs'])
    t.strictSame(named(name), ['acp', 'painter'], name)
  t.strictSame(named('painter.sh'), ['acp', 'painter.sh'])
  t.strictSame(named('mongoose'), ['acp', 'mongoose'], 'a part of a word is another program')
  t.strictSame(named('painter', '/srv/gemini/x'), ['acp', 'painter'], 'a folder says nothing')
  t.end()
})

t.test('a session continues with the program it began with', t => {
  const options = { home: t.testdir(), env: {}, mayFetch: async () => false, tell: () => {} }
  for (const kind of ['claude', 'codex', 'demo', 'opencode'] as const) t.equal(kindOf({ kind }, options).program.kind, kind)
  const program = { kind: 'acp' as const, command: 'painter', args: ['--acp'] }
  t.strictSame(kindOf(program, options).program, program)
  t.end()
})

t.test('an agent that ends at once is named, with its last words', { skip: process.platform === 'win32' && 'a script' }, async t => {
  const directory = t.testdir()
  const start = async (command: string, ...args: string[]) => {
    const error = await acpKind(command, args)
      .start({ directory, env: { PATH: '/usr/bin:/bin' } })
      .catch((error: Error) => error)
    return error instanceof Error ? error.message : 'started'
  }
  t.equal(await start('no-such-agent'), 'The command no-such-agent was not found. Is it installed, and is its folder in PATH?')
  const died = 'Gemini exited before it was ready (exit code 3).\nIts last output:\n  no key'
  t.equal(await start('/bin/sh', '-c', 'echo no key >&2; exit 3', 'gemini'), died)
})
