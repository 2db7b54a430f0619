import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tryAlone } from '../../lib/upgrade/trial.ts'

const running = new AbortController().signal

t.test('a new version that starts says what it is', async t => {
  const program = script(t.testdir(), `[ "$1" = trial-start ] && echo '{"version":"2.0.0","schema":7}'`)
  t.strictSame(await tryAlone(program, running), { version: '2.0.0', schema: 7 })
})

t.test('one that does not start is refused, with its own reason or how it ended', async t => {
  const cases: [body: string, why: string][] = [
    ['exit 3', 'it exited with 3'],
    ['kill -9 $$', 'it exited with SIGKILL'],
    ['echo more; exit 0', 'it exited with 0'],
    [`echo '{"version":"2.0.0","schema":7}'; exit 1`, 'it exited with 1'],
    ['echo first >&2; echo The disk is full. >&2; exit 1', 'The disk is full'],
    ['printf "at file:1\\nTypeError: no such thing\\n    at main\\n\\nNode.js v24\\n" >&2; exit 1', 'TypeError: no such thing']
  ]
  for (const [body, why] of cases) {
    const message = `The new version does not work here: ${why}. Nothing was changed.`
    await t.rejects(tryAlone(script(t.testdir(), body), running), { name: 'CannotStart', message }, body)
  }
  const message = /^The new version does not work here: spawn .* ENOENT\. Nothing was changed\.$/
  await t.rejects(tryAlone(join(t.testdir(), 'missing'), running), { name: 'CannotStart', message })
})

t.test('a trial that is given up ends its program', async t => {
  const end = new AbortController()
  const trial = tryAlone(script(t.testdir(), 'exec sleep 60'), end.signal)
  end.abort(new Error('given up'))
  await t.rejects(trial, { message: 'given up' })
})

function script(folder: string, body: string): string {
  const program = join(folder, 'afield')
  writeFileSync(program, `#!/bin/sh\n${body}\n`)
  chmodSync(program, 0o700)
  return program
}
