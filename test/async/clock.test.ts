import t from 'tap'
import { systemClock } from '../../lib/async/clock.ts'

t.test('the system clock advances and runs what is due', async t => {
  const began = systemClock.now()
  await new Promise<void>(resolve => {
    systemClock.after(2, resolve)
  })
  t.ok(systemClock.now() - began >= 1)
})

t.test('a cancelled timer does not run, and may be cancelled again', async t => {
  const cancel = systemClock.after(1, () => t.fail('ran'))
  cancel()
  await new Promise<void>(resolve => {
    systemClock.after(3, resolve)
  })
  cancel()
})
