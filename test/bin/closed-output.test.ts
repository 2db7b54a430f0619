import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { demo } from '../wrapper/kit/demo.ts'

t.test('a session continues and ends as usual after the reader of its output is gone', async t => {
  const { wrapper } = await demo(t)
  await wrapper.says(/waiting for a message/)
  wrapper.child.stdout?.destroy()
  wrapper.child.kill('SIGTERM')
  t.equal(await wrapper.ended, 0)
  t.notMatch(wrapper.output, /EPIPE/)
})

t.test('a list that is only partly read ends silently', async t => {
  const { status, stderr } = await sessions(t, 'pipe')
  t.strictSame({ status, stderr }, { status: 0, stderr: '' })
})

t.test('a failed write to the output exits with an error', { skip: process.platform !== 'linux' && 'Linux has such a file' }, async t => {
  const full = openSync('/dev/full', 'w')
  t.teardown(() => closeSync(full))
  const { status, stderr } = await sessions(t, full)
  t.equal(status, 75)
  t.match(stderr, /^The output cannot be written: .*no space left.*\n$/)
})

t.test('following a log ends when its reader is gone', async t => {
  const home = t.testdir({ logs: { 'daemon.log': 'started\n' } })
  const child = spawn(process.execPath, ['bin/afield.ts', 'daemon', 'logs', '--follow'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, AFIELD_HOME: home }
  })
  t.teardown(() => child.kill())
  await once(child.stdout, 'data')
  child.stdout.destroy()
  appendFileSync(join(home, 'logs', 'daemon.log'), 'live\n')
  t.same(await once(child, 'exit'), [0, null])
})

/** `afield sessions`, told where to write; from a pipe nobody reads. */
async function sessions(t: { testdir(): string }, stdout: 'pipe' | number) {
  const child = spawn(process.execPath, ['bin/afield.ts', 'sessions', '--json'], {
    stdio: ['ignore', stdout, 'pipe'],
    env: { ...process.env, AFIELD_HOME: t.testdir() }
  })
  child.stdout?.destroy()
  if (!child.stderr) throw new Error('its errors are not read')
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { status, stderr }
}
