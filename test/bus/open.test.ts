import t from 'tap'
import { openBus } from '../../lib/bus/open.ts'
import { CannotStart } from '../../lib/exit.ts'

const on = { onError: () => {} }

t.test('the local bus opens by its name', async t => {
  const bus = await openBus('local', on)
  t.teardown(() => bus.close())
  t.type(bus.publish, 'function')
})

t.test('an unknown bus is rejected in one sentence that does not show a password', async t => {
  const refusal: unknown = await openBus('carrier-pigeon://ada:secret@roof', on).catch(error => error)
  if (!(refusal instanceof CannotStart)) throw refusal
  t.match(refusal.message, /^--bus carrier-pigeon:… is not known; .*local, postgres, redis:\/\/…\.$/)
  t.equal(refusal.exitCode, 78)
})

t.test('the bus in the database of the store needs such a store', async t => {
  for (const store of [undefined, 'sqlite:afield.db']) {
    const refusal: unknown = await openBus('postgres', { ...on, ...(store && { store }) }).catch(error => error)
    if (!(refusal instanceof CannotStart)) throw refusal
    t.match(refusal.message, /^--bus postgres needs a store in PostgreSQL/)
  }
})
