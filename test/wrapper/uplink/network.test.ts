import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import t from 'tap'
import { watchNetwork } from '../../../lib/wrapper/uplink/network.ts'

t.test('a new address and a sleep are the return of the network; a lost address and a busy computer are not', t => {
  let addresses = ['192.0.2.7']
  let now = 0
  let look = () => {}
  let returns = 0
  let isStopped = false
  const stop = watchNetwork(() => returns++, {
    addresses: () => addresses,
    now: () => now,
    every(ms, then) {
      t.equal(ms, 2_000)
      look = then
      return () => {
        isStopped = true
      }
    }
  })
  const seenAfter = (ms: number, ...found: string[]) => {
    now += ms
    addresses = found
    look()
    return returns
  }
  t.equal(seenAfter(2_000, '192.0.2.7'), 0)
  t.equal(seenAfter(2_000), 0, 'the cable was pulled')
  t.equal(seenAfter(2_000, '192.0.2.7'), 1, 'and is back')
  t.equal(seenAfter(9_000, '192.0.2.7'), 1, 'late, and no more')
  t.equal(seenAfter(2_000, '192.0.2.7', '2001:db8::1'), 2)
  t.equal(seenAfter(3_600_000, '192.0.2.7'), 3, 'it slept')
  stop()
  t.ok(isStopped)
  t.end()
})

t.test('a system that tells of no address is no failure', t => {
  const { networkInterfaces } = os
  os.networkInterfaces = () => {
    throw new Error('uv_interface_addresses returned Unknown system error 13')
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    os.networkInterfaces = networkInterfaces
    syncBuiltinESMExports()
  })
  const stop = watchNetwork(() => {})
  stop()
  t.end()
})
