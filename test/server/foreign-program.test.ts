import { join } from 'node:path'
import t from 'tap'
import { foreignEnvironment, runProgram } from '../../lib/server/foreign-program.ts'
import { isRunning, pidIn } from '../kit/running.ts'

const options = { skip: process.platform === 'win32' && 'the programs are scripts of a shell' }
const minute = 60_000
const sh = (script: string, more: { limitMs?: number; signal?: AbortSignal } = {}) =>
  runProgram('sh', ['-c', script], { limitMs: minute, ...more })

t.test('a program that is not ours gets none of our variables', options, async t => {
  t.same(foreignEnvironment({ PATH: '/bin', AFIELD_SECRET: 'x', NOT_AFIELD_: 'y' }), { PATH: '/bin', NOT_AFIELD_: 'y' })
  process.env['AFIELD_SECRET'] = 'secret'
  t.teardown(() => {
    delete process.env['AFIELD_SECRET']
  })
  t.match(await sh('echo "<$AFIELD_SECRET>"; test -n "$PATH"'), { code: 0, output: '<>\n' })
})

t.test('a program that ended is reported with its exit code, its output and its last line of errors', options, async t => {
  t.same(await sh('printf out; printf "one\\n two \\n\\n" >&2; exit 3'), { code: 3, output: 'out', complaint: 'two' })
  t.same(await sh('true'), { code: 0, output: '', complaint: '' })
  const { complaint } = await sh('printf "%0400d" 7 >&2')
  t.equal(complaint, '0'.repeat(300))
})

t.test('the output of a program is limited, and of its errors the end is kept', options, async t => {
  const { output, complaint } = await sh(
    'head -c 5000000 /dev/zero | tr "\\0" x; head -c 5000 /dev/zero | tr "\\0" y >&2; printf "\\nlast" >&2'
  )
  t.equal(output.length, 4 * 1024 * 1024)
  t.equal(complaint, 'last')
})

t.test('a program that does not exist has no exit code', options, async t => {
  t.same(await runProgram('/no/such/program', [], { limitMs: minute }), { code: undefined, output: '', complaint: 'ENOENT' })
})

t.test('a program that takes too long is ended, also when another that it started holds its output', options, async t => {
  const file = join(t.testdir(), 'other')
  const limits: { ms: number; end: () => void }[] = []
  const timers = t.intercept(globalThis, 'setTimeout', { value: (end: () => void, ms: number) => limits.push({ ms, end }) })
  const running = sh(`echo early; sleep 60 & echo $! > '${file}'; wait`)
  timers.restore()
  const other = await pidIn(file)
  t.teardown(() => process.kill(other))
  t.same(
    limits.map(({ ms }) => ms),
    [minute]
  )
  limits[0]?.end()
  t.match(await running, { code: null })
})

t.test('aborting ends the program, and rejects', options, async t => {
  const file = join(t.testdir(), 'own')
  const end = new AbortController()
  const running = sh(`echo $$ > '${file}'; exec sleep 60`, { signal: end.signal })
  const own = await pidIn(file)
  end.abort()
  await t.rejects(running, { name: 'AbortError' })
  while (isRunning(own)) await new Promise(setImmediate)
})
