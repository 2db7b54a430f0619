import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { hasPty, spawnOnPty } from '../../../lib/wrapper/agents/pty.ts'

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
