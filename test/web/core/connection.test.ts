import t from 'tap'
import { connectionOf, type LinkFacts } from '../../../web/core/connection.ts'

t.test('the link status follows network, connection and feed', async t => {
  const rows: [Partial<LinkFacts>, string][] = [
    [{}, 'starting'],
    [{ socket: 'connecting', feed: 'catching-up' }, 'starting'],
    [{ socket: 'live', feed: 'catching-up' }, 'catching-up'],
    [{ socket: 'live', feed: 'live' }, 'live'],
    [{ socket: 'down', feed: 'away', nextTryAt: 5 }, 'silent'],
    [{ socket: 'connecting', feed: 'away' }, 'silent'],
    [{ isOnline: false, socket: 'down', feed: 'away' }, 'offline'],
    [{ isOnline: false, socket: 'connecting', feed: 'catching-up' }, 'offline'],
    // The browser may think it is offline while a server on the same machine answers; what works is not offline.
    [{ isOnline: false, socket: 'live', feed: 'live' }, 'live']
  ]
  for (const [facts, type] of rows) {
    t.equal(
      connectionOf({ isOnline: true, socket: 'none', nextTryAt: undefined, feed: 'none', ...facts }).type,
      type,
      JSON.stringify(facts)
    )
  }
})
