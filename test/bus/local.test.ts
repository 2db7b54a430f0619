import t from 'tap'
import { openLocalBus } from '../../lib/bus/local.ts'
import { busContract } from './contract.ts'

busContract(
  t,
  t => ({
    async open(on = { onError: error => t.fail(String(error)) }) {
      const bus = openLocalBus(on)
      t.teardown(() => bus.close())
      return bus
    }
  }),
  { instances: 'one' }
)
