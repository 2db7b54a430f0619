import t from 'tap'
import { foreignEnvironment, runProgram } from '../../lib/server/foreign-program.ts'

const minute = 60_000
const sh = (script: string, more: { limitMs?: number; signal?: AbortSignal } = {}) =>
  runProgram('sh', ['-c', script], { limitMs: minute, ...more })

t.test('a program that is not ours gets none of our variables', async t => {
  t.same(foreignEnvironment({ PATH: '/bin', AFIELD_SECRET: 'x', NOT_AFIELD_: 'y' }), { PATH: '/bin', NOT_AFIELD_: 'y' })
  process.env['AFIELD_SECRET'] = 'secret'
  t.teardown(() => {
    delete process.env['AFIELD_SECRET']
  })
  t.match(await sh('echo "<$AFIELD_SECRET>"; test -n "$PATH"'), { code: 0, output: '<>\n' })
})

t.test('the end of a program is its exit code, what it printed, and its last complaint', async t => {
  t.same(await sh('printf out; printf "one\\n two \\n\\n" >&2; exit 3'), { code: 3, output: 'out', complaint: 'two' })
  t.same(await sh('true'), { code: 0, output: '', complaint: '' })
  const { complaint } = await sh('printf "%0400d" 7 >&2')
  t.equal(complaint, '0'.repeat(300))
})

t.test('what it prints is bounded, and of its errors the end is kept', async t => {
  const { output, complaint } = await sh(
    'head -c 5000000 /dev/zero | tr "\\0" x; head -c 5000 /dev/zero | tr "\\0" y >&2; printf "\\nlast" >&2'
  )
  t.equal(output.length, 4 * 1024 * 1024)
  t.equal(complaint, 'last')
})

t.test('a program that does not exist has no exit code', async t => {
  t.same(await runProgram('/no/such/program', [], { limitMs: minute }), { code: undefined, output: '', complaint: 'ENOENT' })
})

t.test('a program that takes too long is ended, also when another that it started holds its output', async t => {
  const { code, output } = await sh('echo early; sleep 60 & wait', { limitMs: 500 })
  t.same([code, output], [null, 'early\n'])
})

t.test('a program ends with its signal, which is an error', async t => {
  const end = new AbortController()
  const running = sh('exec sleep 60', { signal: end.signal })
  end.abort()
  await t.rejects(running, { name: 'AbortError' })
})
