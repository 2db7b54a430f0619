import t from 'tap'
import { exitCodeOf } from '../../../../web/model/transcript/exit-code.ts'
import { fetchedOf } from '../../../../web/model/transcript/web-fetch.ts'

const said = (...texts: string[]) => texts.map(text => ({ type: 'text' as const, text }))

t.test('an exit code counts only in the words of a known agent, at the start of a line', async t => {
  const rows: [string, number | undefined][] = [
    ['exit code: 1', 1],
    ['Exit code 127', 127],
    ['Exited with code 2', 2],
    ['exited with 3', 3],
    ['exit: 4', 4],
    ['exit_code=5', 5],
    ['12 passed\n  exit code: 0\n', 0],
    ['exit code: -1', -1],
    ['the exit code: 1', undefined],
    ['exit code: 1234', undefined],
    ['exit code', undefined],
    ['exit 1st', undefined],
    ['12 passed', undefined],
    ['', undefined]
  ]
  for (const [text, code] of rows) t.equal(exitCodeOf(said(text)), code, text)
  t.equal(exitCodeOf(said('12 passed', 'exit code: 1')), 1)
  t.equal(exitCodeOf([{ type: 'diff', path: 'a', oldText: null, newText: 'exit code: 1' }]), undefined)
  t.equal(exitCodeOf(said(`exit code: 1\n${'x'.repeat(1987)}`)), 1)
  t.equal(exitCodeOf(said(`exit code: 1\n${'x'.repeat(1988)}`)), undefined, 'too far from the end')
  t.equal(exitCodeOf([]), undefined)
})

t.test('a web request has its status and size only if the wrapper wrote them first', async t => {
  const diff = { type: 'diff' as const, path: 'a', oldText: null, newText: 'HTTP 500, 1 bytes' }
  t.same(fetchedOf([diff, ...said('HTTP 404, 0 bytes\n\nNot found')]), { status: 404, bytes: 0 })
  t.same(fetchedOf(said('HTTP 200, 123456789012 bytes')), { status: 200, bytes: 123456789012 })
  for (const text of ['HTTP 20, 1 bytes', 'HTTP 200, 1 byte', `${'x\n'.repeat(20)}HTTP 200, 1 bytes`, 'HTTP 200, 1 bytes more'])
    t.equal(fetchedOf(said(text)), undefined, text)
  t.equal(fetchedOf(said('x', 'HTTP 200, 1 bytes')), undefined)
  t.equal(fetchedOf([]), undefined)
})
