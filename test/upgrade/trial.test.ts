import { chmodSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../lib/store/open.ts'
import { tryAlone, tryOnCopy } from '../../lib/upgrade/trial.ts'
import { isRunning, pidIn } from '../kit/running.ts'

const running = new AbortController().signal
const isScript = { skip: process.platform === 'win32' && 'the program is a script' }

t.test('a new version that starts says what it is', isScript, async t => {
  const program = script(t.testdir(), `[ "$1" = trial-start ] && echo '{"version":"2.0.0","schema":7}'`)
  t.strictSame(await tryAlone(program, running), { version: '2.0.0', schema: 7 })
})

t.test('a new version that does not start is refused, with its own reason or how it ended', isScript, async t => {
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

t.test('a trial that is given up ends its program', isScript, async t => {
  const end = new AbortController()
  const folder = t.testdir()
  const trial = tryAlone(script(folder, `echo $$ > '${folder}/own'; exec sleep 60`), end.signal)
  const own = await pidIn(join(folder, 'own'))
  end.abort(new Error('given up'))
  await t.rejects(trial, { message: 'given up' })
  while (isRunning(own)) await new Promise(setImmediate)
})

t.test('a new version starts on a copy of the data, which is gone afterwards', isScript, async t => {
  const { data, tryWith } = await dataOf(t)
  const before = readdirSync(data)
  const told: unknown[] = []
  const program = script(t.testdirName, `echo "$@" > ${data}/asked; ls "$3" > ${data}/seen; echo '{"version":"2.0.0","schema":7}'`)
  t.strictSame(await tryWith(program, progress => told.push(progress)), { version: '2.0.0', schema: 7 })
  const [, copy = ''] = /^trial-start --data (.+)\n$/.exec(readFileSync(join(data, 'asked'), 'utf8')) ?? []
  t.match(readFileSync(join(data, 'seen'), 'utf8'), /^afield\.db$/m)
  t.not(copy, data)
  t.notOk(existsSync(copy))
  t.strictSame(readdirSync(data), [...before, 'asked', 'seen'].toSorted())
  const [progress, ...after] = told.slice(-2)
  t.match(progress, { done: Number, total: Number })
  t.strictSame(after, [undefined], 'after the copy comes the trial')
})

t.test('the copy of a trial that fails is gone too', isScript, async t => {
  const { data, tryWith } = await dataOf(t)
  const before = readdirSync(data)
  await t.rejects(tryWith(script(t.testdirName, 'exit 3')), { message: /it exited with 3/ })
  t.strictSame(readdirSync(data), before)
})

t.test('without a database a new version starts without one', isScript, async t => {
  const data = t.testdir()
  const program = script(data, `[ $# = 1 ] && echo '{"version":"2.0.0","schema":7}'`)
  const options = { data, store: 'sqlite:afield.db' }
  t.match(await tryOnCopy({ program, options, tell: () => t.fail('no copy is made'), signal: running }), { version: '2.0.0' })
})

t.test('a disk that has no room for two copies is named before anything is copied', async t => {
  const { data, tryWith } = await dataOf(t)
  truncateSync(join(data, 'afield.db'), 1e13)
  await t.rejects(tryWith(join(dirname(data), 'none')), {
    name: 'CannotStart',
    message: `The new version is first tried on a copy of the data, which needs 20000017 MB in ${data}: free that, or skip the trial with --no-trial. Nothing was changed.`,
    exitCode: 75
  })
})

/** A data directory with a database. */
async function dataOf(t: Test) {
  const data = join(t.testdir({ data: {} }), 'data')
  const options = { data, store: 'sqlite:afield.db' }
  const store = await openStore(options.store, { dataDirectory: data, onBroken: ({ message }) => t.fail(message) })
  await store.close()
  return {
    data,
    tryWith: (program: string, tell: (progress?: object) => void = () => {}) => tryOnCopy({ program, options, tell, signal: running })
  }
}

function script(folder: string, body: string): string {
  const program = join(folder, 'afield')
  writeFileSync(program, `#!/bin/sh\n${body}\n`)
  chmodSync(program, 0o700)
  return program
}
