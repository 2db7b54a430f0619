import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { controlsOf, hasPty, howEnded, openPty, spawnOnPty } from '../../../lib/wrapper/agents/pty.ts'

const skip = !hasPty && 'no terminals on this system'

function run(script: string) {
  let said = ''
  const { ended } = spawnOnPty(['/bin/sh', '-c', script], { cwd: process.cwd() }, bytes => (said += bytes))
  return { ended, said: () => said }
}

t.test('the last output of a program arrives before its end, however busy this process is', { skip }, async t => {
  const { ended, said } = run('echo first; sleep 0.2; seq 1 300; echo last; exit 3')
  while (!said().includes('first')) await delay(5)
  const busyUntil = performance.now() + 700
  while (performance.now() < busyUntil);
  t.same(await ended, { code: 3, signal: 0 })
  t.match(said(), /300\r\nlast\r\n$/)
})

t.test('a program that leaves a child on its terminal still ends', { skip }, async t => {
  const { ended, said } = run('trap "" HUP; (for _ in 1 2 3 4 5 6 7 8 9; do sleep 0.1; echo more; done) & echo mine; exit 0')
  t.same(await ended, { code: 0, signal: 0 })
  t.match(said(), /mine\r\n/)
})

t.test('the signal that killed it is reported', { skip }, async t => {
  const { ended } = run('kill -9 $$')
  t.equal((await ended).signal, 9)
})

t.test('a program that is ended as soon as it is started does not end this one with it', { skip }, async t => {
  let signals = 0
  const count = () => signals++
  process.on('SIGTERM', count)
  t.teardown(() => process.off('SIGTERM', count))
  for (let times = 0; times < 40; times++) await opened('exec sleep 60').pty.end()
  t.equal(signals, 0)
})

t.test('a program may end in its own way once it has begun, and its last words are not shown', { skip }, async t => {
  const { pty, shown } = opened(
    `trap 'printf "\\033[?2004lGoodbye"; exit 4' TERM; printf '\\033[?2004hready'; while :; do sleep 0.01; done`
  )
  await pty.isReady
  while (!shown().includes('ready')) await delay(5)
  await pty.end()
  t.strictSame(await pty.ended, { code: 4, signal: 0 })
  const all = shown()
  t.ok(all.startsWith('\x1b[?2004hready\x1b[?2004l'), all)
  t.notMatch(all, 'Goodbye')
  t.ok(all.endsWith('\r\n'))
})

t.test('a program gets keys, sizes and variables, and its output is passed on', { skip }, async t => {
  const { pty, shown } = opened('stty size; read line; echo "got $line in $COLOR"; stty size', { COLOR: 'red' })
  let heard = ''
  pty.onOutput(text => (heard += text))
  while (!shown().includes('24 90')) await delay(5)
  pty.resize({ columns: 100, rows: 30 })
  pty.write('tea\r')
  t.same(await pty.ended, { code: 0, signal: 0 })
  t.match(shown(), /got tea in red\r\n30 100\r\n/)
  t.match(heard, 'got tea')
})

t.test('how a program ended is said in words', async t => {
  t.equal(howEnded({ code: 3, signal: 0 }), 'exit code 3')
  t.equal(howEnded({ code: 0, signal: 9 }), 'killed by SIGKILL')
  t.equal(howEnded({ code: 0, signal: 99 }), 'killed by signal 99')
})

t.test('of last words only what restores a terminal is kept', async t => {
  t.equal(
    controlsOf('\x1b[?1049lResume with: \x1b[1mclaude\x1b[0m\x1b]0;title\x07 \x1b]2;t\x1b\\x\x1b(B\x1b=\x1b7'),
    '\x1b[?1049l\x1b[1m\x1b[0m\x1b]0;title\x07\x1b]2;t\x1b\\\x1b(B\x1b=\x1b7'
  )
  t.equal(controlsOf('nothing of it'), '')
})

function opened(script: string, env: Record<string, string> = {}) {
  let shown = ''
  const console = {
    ...{ columns: 90, rows: 24, takeKeys: () => () => {}, onResize: () => () => {} },
    write(bytes: Uint8Array | string) {
      shown += Buffer.from(bytes).toString()
    }
  }
  const path = { PATH: process.env['PATH'] ?? '' }
  const pty = openPty({ command: '/bin/sh', args: ['-c', script], directory: process.cwd(), env: { ...path, ...env } }, console)
  return { pty, shown: () => shown }
}
