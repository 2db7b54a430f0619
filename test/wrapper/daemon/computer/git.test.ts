import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { git, lookAtRepository } from '../../../../lib/wrapper/daemon/computer/git.ts'
import { makeRepository } from '../../kit/repository.ts'

const skip = process.platform === 'win32' && 'the fake is a script'

/** A `git` of these lines. */
function fake(t: Test, lines: string) {
  const folder = t.testdir({})
  writeFileSync(join(folder, 'git'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  return { folder, env: { PATH: folder, AFIELD_HOME: 'own' } }
}

t.test('git runs in the folder, without locks, questions or translations, and its last line breaks are left out', { skip }, async t => {
  const { folder, env } = fake(t, 'echo "  $* $GIT_OPTIONAL_LOCKS $GIT_TERMINAL_PROMPT $LC_ALL<$AFIELD_HOME>"; pwd; echo')
  t.equal(await git(folder, ['status', '-z'], { ...env, LC_ALL: 'de', GIT_OPTIONAL_LOCKS: '1' }), `  status -z 0 0 C<>\n${folder}`)
})

t.test('what git refuses is told in its own last words', { skip }, async t => {
  for (const [lines, message] of [
    ['echo "warning: old" >&2; echo "fatal: not a tree" >&2; echo >&2; exit 128', 'not a tree'],
    ['echo "error: no such branch" >&2; exit 1', 'no such branch'],
    ['echo "a fatal: error: in it" >&2; exit 1', 'a fatal: error: in it'],
    ['exit 1', 'Command failed: git log']
  ] as const) {
    const { folder, env } = fake(t, lines)
    await t.rejects(git(folder, ['log'], env), { message }, lines)
  }
})

t.test('git that does not answer in time is ended, whatever it ignores', { skip }, async t => {
  const { folder, env } = fake(t, "trap '' TERM\nwhile :; do /bin/sleep 0.01; done")
  await t.rejects(git(folder, ['log'], env, 50), { message: 'git did not answer within 0.05 s.' })
  t.equal(await lookAtRepository(folder, env, 50), undefined)
})

t.test('a long answer of git is complete', { skip }, async t => {
  const { folder, env } = fake(t, '/usr/bin/head -c 15000000 /dev/zero | /usr/bin/tr "\\\\0" x')
  t.equal((await git(folder, ['log'], env)).length, 15_000_000)
})

t.test('of a repository its branch is told, and how many files have changes', async t => {
  const { folder, env, git: run } = makeRepository(t)
  const look = (at = folder) => lookAtRepository(at, env, 10_000)
  t.strictSame(await look(), { branch: 'main', dirty: 0 })
  run('commit', '-q', '--allow-empty', '-m', 'one')
  for (const name of ['one', 'two']) writeFileSync(join(folder, name), '')
  t.strictSame(await look(), { branch: 'main', dirty: 2 })
  run('checkout', '-q', '-b', 'feature/a.b')
  run('branch', '-q', '--set-upstream-to', 'main')
  t.strictSame(await look(), { branch: 'feature/a.b', dirty: 2 })
  run('checkout', '-q', '--detach')
  t.strictSame(await look(), { branch: undefined, dirty: 2 })
  const empty = join(dirname(folder), 'empty')
  mkdirSync(empty)
  t.equal(await look(empty), undefined)
})
