import t, { type Test } from 'tap'
import { onInterrupts } from '../../../lib/wrapper/run/interrupts.ts'

t.test('the first Ctrl-C stops the turn, the second ends the session, and the third quits', t => {
  const { press, wait, done } = pressing(t, { isWorking: true })
  press('SIGINT')
  t.strictSame(done(), ['stop', 'shows turn'])
  wait(299)
  press('SIGINT')
  t.strictSame(done(), [], 'npm forwards the same key')
  wait(300)
  press('SIGINT')
  t.strictSame(done(), ['shows ending', 'end person'])
  wait(300)
  press('SIGINT')
  t.strictSame(done(), ['exit 0', 'shows ending', 'end person'], 'a real exit does not return')
  t.end()
})

t.test('without a turn the first Ctrl-C asks, and is forgotten after four seconds', t => {
  const { press, wait, done, timer } = pressing(t, { isWorking: false })
  press('SIGINT')
  t.strictSame(done(), ['stop', 'shows asked'])
  t.equal(timer()?.ms, 4000)
  timer()?.run()
  t.strictSame(done(), ['shows no'])
  t.equal(timer(), undefined)
  wait(4000)
  press('SIGINT')
  t.strictSame(done(), ['stop', 'shows asked'])
  t.end()
})

t.test('a signal from elsewhere ends the session at once, and a second one the process', t => {
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    const { press, done, timer, close } = pressing(t, { isWorking: true })
    press('SIGINT')
    done()
    press(signal)
    t.strictSame(done(), ['shows ending', 'end system'])
    t.equal(timer(), undefined, 'nothing is forgotten any more')
    press(signal)
    t.equal(done()[0], 'exit 0')
    close()
  }
  t.end()
})

t.test('closed, it listens to no signal', t => {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const before = signals.map(signal => process.listenerCount(signal))
  const { press, close, timer } = pressing(t, { isWorking: true })
  press('SIGINT')
  t.strictSame(
    signals.map(signal => process.listenerCount(signal)),
    before.map(count => count + 1)
  )
  close()
  t.strictSame(
    signals.map(signal => process.listenerCount(signal)),
    before
  )
  t.equal(timer(), undefined)
  t.end()
})

/** One whose signals, clock and timer are the test's. */
function pressing(t: Test, { isWorking }: { isWorking: boolean }) {
  const did: string[] = []
  let at = 1000
  let timer: { run(): void; ms: number } | undefined
  t.intercept(performance, 'now', { value: () => at })
  t.intercept(process, 'exit', { value: (code: number) => did.push(`exit ${code}`) })
  t.intercept(globalThis, 'clearTimeout', { value: () => (timer = undefined) })
  t.intercept(globalThis, 'setTimeout', { value: (run: () => void, ms: number) => (timer = { run, ms }) })
  const session = {
    stopTurn() {
      did.push('stop')
      return isWorking
    },
    end: (by: string) => void did.push(`end ${by}`)
  }
  const close = onInterrupts(session, { showStopping: now => void did.push(`shows ${now}`) })
  return {
    /** Only to these listeners: those of the test run would end it. */
    press: (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void process.listeners(signal).at(-1)?.(signal),
    wait(ms: number) {
      at += ms
    },
    done: () => did.splice(0),
    timer: () => timer,
    close
  }
}
