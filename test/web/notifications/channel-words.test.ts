import t from 'tap'
import type { Channel } from '../../../web/model/notifications/notifications.ts'
import { healthWords, missingWords, nameOfChannel, othersOf } from '../../../web/notifications/channel-words.ts'
import { chosenOf, sooner, unansweredSummary } from '../../../web/notifications/escalation-order.ts'

const health: Channel['health'] = { sent: 0, arrived: 0, typicalMs: null, slowestMs: null, last: [] }
const channel = (given: Partial<Channel>): Channel => ({
  ...{ id: 'c1', kind: 'ntfy', isOwn: false, device: null, createdAt: 1, updatedAt: 1, acknowledges: false, health },
  ...given
})

t.test('a channel is named after its kind, and the device that added it if that is known', t => {
  t.equal(nameOfChannel(channel({})), 'ntfy')
  t.equal(nameOfChannel(channel({ device: '' })), 'ntfy')
  t.equal(nameOfChannel(channel({ kind: 'webhook', device: 'Pixel' })), 'Webhook, added on Pixel')
  t.equal(nameOfChannel(channel({ isOwn: true, device: 'Pixel' })), 'ntfy, added here')
  t.end()
})

t.test('only a channel that confirms what was shown is said to have arrived or not', t => {
  const sent = { ...health, sent: 7, arrived: 5 }
  t.equal(healthWords(channel({})), 'Nothing sent in 7 days')
  t.equal(healthWords(channel({ acknowledges: true })), 'Nothing sent in 7 days')
  t.equal(healthWords(channel({ health: sent })), '7 sent in 7 days')
  t.equal(healthWords(channel({ health: sent, acknowledges: true })), '5 of 7 arrived in 7 days')
  t.equal(missingWords(channel({ health: sent, device: 'Pixel' })), 'ntfy, added on Pixel cannot be reached')
  t.equal(missingWords(channel({ health: sent, acknowledges: true, device: 'Pixel' })), 'Pixel got only 5 of 7')
  t.equal(missingWords(channel({ health: sent, acknowledges: true })), 'ntfy got only 5 of 7')
  t.equal(missingWords(channel({ health: sent, acknowledges: true, device: '' })), 'ntfy got only 5 of 7')
  t.end()
})

t.test('of all channels only this browser is not another one', t => {
  const here = channel({ id: 'here', isOwn: true, kind: 'web-push' })
  const rest = [channel({ id: 'added', isOwn: true }), channel({ id: 'phone', kind: 'web-push' })]
  t.same(othersOf([here, ...rest]), rest)
  t.end()
})

t.test('the escalation names whom it notifies in order, or nobody', t => {
  const here = channel({ id: 'here', isOwn: true, kind: 'web-push' })
  const channels = [channel({ id: 'a' }), here, channel({ id: 'b', kind: 'webhook', device: 'Pixel' })]
  const summary = (escalation: { afterMinutes: 2 | 5 | 15; to: string[] } | null) =>
    unansweredSummary({ settings: { escalation } as never, channels })
  t.equal(summary({ afterMinutes: 5, to: ['b', 'a'] }), 'After 5 min, also notify Webhook, added on Pixel, ntfy')
  for (const escalation of [null, { afterMinutes: 5 as const, to: [] }, { afterMinutes: 5 as const, to: ['removed', 'here'] }]) {
    t.equal(summary(escalation), 'Notify no one else')
  }
  t.same(
    chosenOf(channels, { afterMinutes: 2, to: ['b', 'removed', 'a'] }).map(({ id }) => id),
    ['b', 'a']
  )
  t.same(chosenOf(channels, null), [])
  t.same(sooner(['a', 'b', 'c'], 2), ['a', 'c', 'b'])
  t.same(sooner(['a', 'b', 'c'], 1), ['b', 'a', 'c'])
  t.end()
})
