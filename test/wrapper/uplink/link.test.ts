import t from 'tap'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import { createLink, createStallCheck, type LinkState } from '../../../lib/wrapper/uplink/link.ts'
import { turn } from '../../client/link/fake-link.ts'

/** When it was over, looked at each second of a day in which the same thing waits. */
function timesOver(oldestAt: (second: number) => string | undefined, seconds: number): number[] {
  const stall = createStallCheck()
  return Array.from({ length: seconds }, (_, second) => second).filter(second => stall.isStalled(oldestAt(second), 1000 * second))
}

t.test('a silent line with pending data is probed soon, then less and less often, so that a slow line has time', async t => {
  t.strictSame(
    timesOver(() => 'a', 400),
    [6, 18, 42, 90, 186, 306]
  )
})

t.test('after progress the next thing is probed as soon as the first', async t => {
  t.strictSame(
    timesOver(second => (second < 50 ? 'a' : 'b'), 80),
    [6, 18, 42, 56, 68]
  )
})

/** A link, with what it told and why deliveries were cut off. */
async function linkAfter(...states: LinkState['type'][]) {
  let told = 0
  const link = createLink(() => told++)
  for (const type of states) link.enter({ type, reason: 'away' } as LinkState)
  const cut = await Promise.race([link.cut.catch(error => error.message), turn()])
  return { state: link.state.type, told, cut }
}

t.test('a link that comes and goes cuts nothing off', async t => {
  t.strictSame(await linkAfter(), { state: 'connecting', told: 0, cut: undefined })
  t.strictSame(await linkAfter('live', 'away', 'connecting', 'live'), { state: 'live', told: 4, cut: undefined })
})

t.test('a session that is gone, unknown or sealed with another key stays so, and an unlinked computer may be linked again', async t => {
  for (const type of ['gone', 'unknown', 'other-key'] as const)
    t.strictSame(await linkAfter('live', type, 'live'), { state: type, told: 2, cut: type })
  t.strictSame(await linkAfter('unlinked', 'live'), { state: 'live', told: 2, cut: 'unlinked' })
})

t.test('a link may be cut while nobody waits for it', async t => {
  const link = createLink(() => {})
  link.enter({ type: 'gone' })
  await turn()
  t.equal(link.state.type, 'gone')
})

t.test('only a refusal gives up, and a closed link changes no more', async t => {
  const link = createLink(() => {})
  link.giveUp(new Unreachable('network'))
  t.equal(link.state.type, 'connecting')
  link.giveUp(new Refused(401, 'Invalid token'))
  await t.rejects(link.cut, { message: 'unlinked' })
  link.close()
  link.enter({ type: 'live' })
  t.equal(link.state.type, 'unlinked')
})

t.test('a line that makes progress is not probed', async t => {
  t.strictSame(
    timesOver(second => `${Math.floor(second / 5)}`, 400),
    []
  )
  t.strictSame(
    timesOver(() => undefined, 400),
    []
  )
})
