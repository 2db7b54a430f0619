import t from 'tap'
import { startHeartbeat } from '../../../lib/wrapper/uplink/live.ts'
import { manualClock } from '../../kit/manual-clock.ts'

t.test('an idle session costs a device three keepalives a minute, a working one twelve, and a change is sent at once', t => {
  const clock = manualClock()
  let isWorking = false
  const sent: number[] = []
  const heartbeat = startHeartbeat({ clock, isWorking: () => isWorking, send: () => sent.push(clock.now()) })
  const pass = (seconds: number) => {
    sent.length = 0
    for (let second = 0; second < seconds; second++) clock.advance(1_000)
    return sent.length
  }
  t.equal(pass(60), 3)
  isWorking = true
  sent.length = 0
  heartbeat.tell()
  t.equal(sent.length, 1)
  t.equal(pass(60), 12)
  isWorking = false
  heartbeat.tell()
  t.equal(pass(60), 3)
  heartbeat.close()
  t.equal(pass(60), 0)
  heartbeat.tell()
  t.equal(sent.length, 0)
  t.equal(clock.pending, 0)
  t.end()
})
